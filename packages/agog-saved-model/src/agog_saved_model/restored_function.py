"""Restored function: a function of a saved model, which runs its programs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agog_core import Tensor, Variable, convert_to_tensor, nest
from agog_core.tensors.tensor_spec import TensorSpec
from agog_core.tracing.functions.function import DefinedFunction
from agog_core.tracing.functions.function import function as traced
from agog_core.tracing.programs.encoding import Decoder
from agog_core.tracing.programs.interpreter import Interpreter
from agog_core.tracing.programs.validation import check
from agog_core.tracing.state.leaves import exact
from agog_saved_model.function_data import Saved

__all__ = ["RestoredFunction", "SignatureFunction"]


class RestoredFunction:
    """A function of a saved model. It takes the kinds of arguments that it was saved for; gradients flow through it.

    Args:
        data: its parameters and programs.
        arrays: the arrays of the model, by name.
        variables: the model's, by their places.

    >>> RestoredFunction({"name": "f", "parameters": [], "programs": []}, {}, [])
    <RestoredFunction f()>
    """

    def __init__(self, data: Mapping[str, Any], arrays: Mapping[str, Any], variables: Sequence[Variable]) -> None:
        self.__name__ = str(data["name"])
        decode = Decoder(lambda name: arrays[name])
        parameters = []
        for each in data["parameters"]:
            default = decode(each["default"]) if "default" in each else inspect.Parameter.empty
            parameters.append(inspect.Parameter(each["name"], _KINDS[each["kind"]], default=default))
        self._signature = inspect.Signature(parameters)
        self._kinds: list[dict[str, Any]] = []
        self._runs: list[DefinedFunction] = []
        self._variables: list[Variable] = []
        for each in data["programs"]:
            check(each["program"], arrays.keys(), len(variables))
            kind = decode(each["arguments"])
            if not isinstance(kind, dict) or len(_specs(kind)) != len(each["program"]["kinds"]):
                raise ValueError(f"{self.__name__} takes other arguments than its program")
            self._kinds.append(kind)
            self._runs.append(traced(Interpreter(each["program"], arrays, variables, self.__name__)))
            self._variables += [variables[place] for place in sorted(_used(each["program"]["block"]))]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function.

        Args:
            *args: its arguments; numbers and arrays become tensors.
            **kwargs: others, by name.

        Returns:
            What the function returned when it was saved, of these arguments.

        Raises:
            TypeError: there are other arguments.
            ValueError: the function was not saved for such arguments.
        """
        given = self._bound(args, kwargs)
        for kind, run in zip(self._kinds, self._runs, strict=True):
            tensors: list[Tensor] = []
            if kind.keys() == given.keys() and all(_fits(kind[name], given[name], tensors) for name in sorted(kind)):
                return run(*tensors)
        raise ValueError(
            f"{self.__name__}: it was not saved for these arguments: {_shown(given)}. It was saved for "
            f"{'; or '.join(map(_shown, self._kinds)) or 'no arguments at all: call it before it is saved'}."
        )

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}: {error}; it takes {self._signature}.") from None
        kinds = [kind.keys() for kind in self._kinds]
        if bound.arguments.keys() not in kinds:
            bound.apply_defaults()
            wanted = set().union(*kinds)
            return {name: each for name, each in bound.arguments.items() if name in wanted or each not in ((), {})}
        return dict(bound.arguments)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that it reads or writes."""
        return tuple(dict.fromkeys(self._variables))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those of them that are trainable."""
        return tuple(variable for variable in self.variables if variable.trainable)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> SignatureFunction:
        """The function for one kind of arguments.

        Args:
            *args: tensors, or specs of them; none where there is one kind only.
            **kwargs: others, by name.

        Returns:
            A `SignatureFunction`.

        Raises:
            ValueError: it was not saved for such arguments.
        """
        given = self._bound(args, kwargs) if args or kwargs else None
        for kind, run in zip(self._kinds, self._runs, strict=True):
            if (given is None and len(self._kinds) == 1) or (
                given is not None and kind.keys() == given.keys() and all(_fits(kind[n], given[n], []) for n in kind)
            ):
                return SignatureFunction(self.__name__, kind, run, self.variables)
        raise ValueError(f"{self.__name__}: it was not saved for these arguments: {_shown(given or {})}.")

    def _as_saved(self) -> Saved:
        return Saved(self.__name__, self, self._signature, self._kinds)

    def __repr__(self) -> str:
        return f"<RestoredFunction {self.__name__}{self._signature}>"


class SignatureFunction:
    """A function of a saved model that takes tensors by name.

    Args:
        name: its name.
        kind: the specs of its arguments, by name.
        run: what runs it, on the tensors in the order of the names.
        variables: those that it reads or writes.

    >>> SignatureFunction("f", {}, lambda: None, ())
    <SignatureFunction f()>
    """

    def __init__(self, name: str, kind: Mapping[str, Any], run: Any, variables: Sequence[Variable]) -> None:
        self.name, self._kind, self._run = name, dict(kind), run
        self.variables = tuple(variables)

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """No arguments by their places, and the specs of those by name."""
        return (), dict(self._kind)

    @property
    def inputs(self) -> list[TensorSpec]:
        """The specs of the tensors that it takes."""
        return _specs(self._kind)

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those of its variables that are trainable."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def structured_outputs(self) -> Any:
        """What it returns, with a spec in the place of each tensor."""
        return self._run.get_concrete_function(*self.inputs).structured_outputs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function.

        Args:
            *args: its tensors, in the order of their names.
            **kwargs: or by name.

        Returns:
            What it gives: of a signature a dict of tensors.

        Raises:
            TypeError: there are other arguments.
            ValueError: a tensor has another dtype or shape.
        """
        given = {**dict(zip(self._kind, args, strict=False)), **kwargs}
        needed = [name for name, each in self._kind.items() if _specs(each)]
        given = {**{name: each for name, each in self._kind.items() if name not in needed}, **given}
        if given.keys() != self._kind.keys() or len(args) > len(self._kind):
            raise TypeError(
                f"{self.name}: it takes the tensors {', '.join(needed) or '(none)'} by name; got "
                f"{len(args)} by place and {', '.join(kwargs) or 'none'} by name."
            )
        tensors: list[Tensor] = []
        for name in sorted(self._kind):
            if not _fits(self._kind[name], given[name], tensors):
                raise ValueError(
                    f"{self.name}: {name} must be {_shown_one(self._kind[name])}; got {_shown_one(given[name])}."
                )
        return self._run(*tensors)

    def _as_saved(self) -> Saved:
        parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in self._kind]
        return Saved(self.name, self, inspect.Signature(parameters), [self._kind])

    def __repr__(self) -> str:
        return f"<SignatureFunction {self.name}({', '.join(self._kind)})>"


_KINDS = list(inspect._ParameterKind)


def _specs(kind: Any) -> list[TensorSpec]:
    return [leaf for leaf in nest.flatten(kind) if isinstance(leaf, TensorSpec)]


def _used(part: Any) -> set[int]:
    """The places of the variables that a part of a program names."""
    if isinstance(part, dict):
        own = {place for place in part.get("variables", ()) if place >= 0}
        return own.union(*[_used(part.get(name)) for name in ("steps", "ways", "blocks")])
    return set().union(*map(_used, part)) if isinstance(part, list) else set()


def _fits(kind: Any, value: Any, tensors: list[Tensor]) -> bool:
    """Whether an argument is of a kind; its tensors are put into a list."""
    if isinstance(kind, TensorSpec):
        if isinstance(value, TensorSpec):
            return kind.is_compatible_with(value)
        if not isinstance(value, (Tensor, Variable)):
            try:
                value = (
                    convert_to_tensor(value) if isinstance(value, np.ndarray) else convert_to_tensor(value, kind.dtype)
                )
            except (TypeError, ValueError):
                return False
        value = convert_to_tensor(value)
        tensors.append(value)
        return kind.is_compatible_with(value)
    if isinstance(kind, Mapping):
        return (
            isinstance(value, Mapping)
            and kind.keys() == value.keys()
            and all(_fits(kind[key], value[key], tensors) for key in sorted(kind))
        )
    if isinstance(kind, (list, tuple)):
        is_list = isinstance(value, (list, tuple)) and len(kind) == len(value)
        return is_list and all(_fits(*pair, tensors) for pair in zip(kind, value, strict=True))
    return not isinstance(value, (Tensor, Variable)) and exact(kind) == exact(value)


def _shown(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_shown_one(each)}" for name, each in arguments.items()) or "nothing"


def _shown_one(value: Any) -> str:
    if isinstance(value, (Tensor, Variable, TensorSpec)):
        return f"{value.dtype.name} {value.shape}"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {value.shape}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_shown_one(each)}' for key, each in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_shown_one, value))}]"
    return repr(value)[:80]
