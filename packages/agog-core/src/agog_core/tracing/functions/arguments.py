"""Arguments: what a traced function takes, with an input signature or without, and what it may return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from agog_core import nest
from agog_core.dispatch.devices.lookup import scope, scopes
from agog_core.settings import present_key, used
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor
from agog_core.tensors.tensor_spec import TensorSpec
from agog_core.tracing.state.device import untraced
from agog_core.tracing.state.leaves import (
    equals,
    exact,
    field_names,
    is_eager,
    is_single,
    key_of_leaf,
    key_of_structure,
    key_of_tensor,
    tensors_of,
    with_fields,
)
from agog_core.variables.variable import Variable

_AS_THEY_ARE = (Tensor, int, float, bool, str, type(None))


class Arguments(NamedTuple):
    """What a function takes and returns.

    Args:
        owner: who wraps the function, for errors.
        function: the function's name, for errors.
        signature: its input signature; None for anything.
    """

    owner: str
    function: str
    signature: tuple[Any, ...] | None

    def taken(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The arguments as the function gets them; TypeError or ValueError where it does not take them."""
        if self.signature is not None:
            return self._checked(args, kwargs), {}
        if not kwargs and all(type(value) in _AS_THEY_ARE for value in args):
            return args, kwargs
        return nest.map_structure(self._argument, (args, kwargs))

    def given(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, Any, Sequence[Tensor]]:
        """The arguments as the function gets them from eager code, and the tensors among them."""
        if not kwargs and self.signature is None and all(map(is_eager, args)):
            return args, kwargs, args
        args, kwargs = nest.map_structure(_here, self.taken(args, kwargs))
        return args, kwargs, tensors_of((args, kwargs))

    def both(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
        """The same without the tensors, for calls whose arguments were matched as they came."""
        return self.given(args, kwargs)[:2]

    def _argument(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return convert_to_tensor(value)
        if field_names(value) is not None:
            return _by_fields(self._argument, value)
        try:
            hash(value)
        except TypeError:
            raise TypeError(
                f"{self.owner}: the arguments of {self.function} must be tensors, or hashable; got a "
                f"{type(value).__name__}. "
                "Pass it as a tuple, or as a tensor."
            ) from None
        return value

    def _checked(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        if kwargs:
            raise ValueError(
                f"{self.owner}: {self.function} has an input signature, so it takes no keyword arguments; got "
                f"{', '.join(kwargs)}."
            )
        signature = self.signature or ()
        if len(args) != len(signature):
            raise ValueError(
                f"{self.owner}: the input signature of {self.function} has {len(signature)} arguments; got {len(args)}."
            )
        return tuple(
            self.fitting(spec, value, f"argument {place}")
            for place, (spec, value) in enumerate(zip(signature, args, strict=True))
        )

    def fitting(self, spec: Any, value: Any, where: str) -> Any:
        """A value as a `TensorSpec`, a structure or a bound value says; ValueError where it is not so."""
        if isinstance(spec, TensorSpec):
            tensor = convert_to_tensor(value)
            if not spec.is_compatible_with(tensor):
                raise ValueError(
                    f"{self.owner}: {where} of {self.function} must be a tensor of shape {spec.shape} and dtype "
                    f"{spec.dtype.name}, by its input signature; got shape {tensor.shape} and dtype "
                    f"{tensor.dtype.name}."
                )
            return tensor
        if nest.is_mapping(spec) and nest.is_mapping(value) and spec.keys() == value.keys():
            return {key: self.fitting(spec[key], value[key], f"{where}[{key!r}]") for key in value}
        is_pair = isinstance(spec, (list, tuple)) and isinstance(value, (list, tuple))
        if is_pair and len(spec) == len(value):
            parts = [self.fitting(*pair, f"{where}[{n}]") for n, pair in enumerate(zip(spec, value, strict=True))]
            return nest.pack(value, nest.flatten(parts))
        if not nest.is_nested(spec):
            if value is spec or exact(value) == exact(spec):
                return spec
            raise ValueError(
                f"{self.owner}: {where} of {self.function} is bound to {spec!r}; got {value!r}. Leave it out, or make "
                "another concrete function."
            )
        raise ValueError(
            f"{self.owner}: {where} of {self.function} must have the structure {spec!r}, by its input signature; got "
            f"a {type(value).__name__}."
        )

    def returned(self, value: Any) -> Any:
        """A part of what the function returns, as a tensor; TypeError where it can be none."""
        if isinstance(value, (bool, int, float, complex, str, bytes, np.ndarray, np.generic, Variable)):
            return convert_to_tensor(value)
        if value is None or isinstance(value, Tensor) or hasattr(value, "dtype"):
            return value
        if field_names(value) is not None:
            return _by_fields(self.returned, value)
        raise TypeError(
            f"{self.owner}: {self.function} must return tensors, structures of them, or None; it returned a "
            f"{type(value).__name__}."
        )


def key_of_call(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """What decides which trace a call takes: the arguments, the device scope, and the settings."""
    where, settings = scope() if scopes else None, present_key() if used else ()
    if not kwargs and where is None and not settings and all(map(is_single, args)):
        kinds, same = tuple(map(key_of_tensor, args)), equals(args)
        return kinds if same is None else (same, "equals", *kinds)
    both = args, kwargs
    leaves = map(key_of_leaf, nest.flatten(both))
    return where, settings, equals(tensors_of(both)), "structure", key_of_structure(both), *leaves


def _here(leaf: Any) -> Any:
    """An argument as eager code has it, also where a trace has left it behind."""
    return untraced(leaf) if type(leaf) is Tensor else leaf


def _by_fields(function: Callable[[Any], Any], value: Any) -> Any:
    """An object with a function applied to what its fields hold; itself where that changes nothing."""
    before = {name: getattr(value, name) for name in field_names(value) or ()}
    after = {name: nest.map_structure(function, each) for name, each in before.items()}
    pairs = zip(nest.flatten(before), nest.flatten(after), strict=True)
    return value if all(old is new for old, new in pairs) else with_fields(value, after)
