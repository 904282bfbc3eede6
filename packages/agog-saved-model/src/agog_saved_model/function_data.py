"""Function data: functions with their signatures, and a program for each kind of arguments, as JSON."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from agog_core import nest
from agog_core.errors import TracingError
from agog_core.tensors.tensor_spec import TensorSpec
from agog_core.tracing.functions.concrete_function import ConcreteFunction
from agog_core.tracing.functions.function import DefinedFunction
from agog_core.tracing.programs.encoding import Encoder
from agog_core.tracing.programs.recording import Kept, program


class Saved(NamedTuple):
    """A function to save: its name, what it calls, its parameters, and the arguments, by name, that it is kept for."""

    name: str
    function: Callable[..., Any]
    signature: inspect.Signature
    kinds: list[dict[str, Any]]


def is_function(value: Any) -> bool:
    """Whether a value is a traced function, or one that was loaded."""
    return isinstance(value, (DefinedFunction, ConcreteFunction)) or hasattr(type(value), "_as_saved")


def saved(value: Any) -> Saved:
    """What is to save of a traced function: all kinds of arguments that it has been traced for."""
    if isinstance(value, ConcreteFunction):
        signature = inspect.signature(value.python_function)
        args, kwargs = value.structured_input_signature
        return Saved(value.name, value.python_function, signature, [dict(signature.bind(*args, **kwargs).arguments)])
    if not isinstance(value, DefinedFunction):
        found: Saved = value._as_saved()
        return found
    signature = inspect.signature(value.python_function)
    name = getattr(value.python_function, "__name__", "function")
    if value.input_signature is not None:
        given = _with_names(value.input_signature, signature)
        return Saved(name, value.python_function, signature, [dict(signature.bind(*given).arguments)])
    kinds = [dict(signature.bind(*args, **kwargs).arguments) for args, kwargs in value.memory.kinds.values()]
    return Saved(name, value.python_function, signature, kinds)


def data_of(found: Saved, kept: Kept) -> dict[str, Any]:
    """The function as JSON; `TracingError` where it is none that data can say."""
    encode = Encoder(_no_key, kept.array)
    programs = []
    for kind in found.kinds:
        try:
            arguments = encode(kind)
        except TypeError as error:
            raise TracingError(
                f"saved_model.save: {found.name} cannot be kept, since it was traced for {error}; pass tensors, or "
                "Python's numbers and texts."
            ) from None
        try:
            programs.append({"arguments": arguments, "program": program(_caller(found), (), kind, kept)})
        except TracingError as error:
            raise TracingError(f"saved_model.save: {found.name} cannot be kept: {error}") from error
    parameters = []
    for parameter in found.signature.parameters.values():
        entry: dict[str, Any] = {"name": parameter.name, "kind": int(parameter.kind)}
        if parameter.default is not inspect.Parameter.empty:
            try:
                entry["default"] = encode(parameter.default)
            except TypeError:  # calls that leave it out are found all the same
                entry["default"] = None
        parameters.append(entry)
    return {"name": found.name, "parameters": parameters, "programs": programs}


def tensors_of(kind: Any) -> list[TensorSpec]:
    """The specs of the tensors among arguments."""
    return [leaf for leaf in nest.flatten(kind) if isinstance(leaf, TensorSpec)]


def _caller(found: Saved) -> Callable[[Any, Mapping[str, Any]], Any]:
    def call(args: Any, arguments: Mapping[str, Any]) -> Any:
        bound = found.signature.bind_partial()
        bound.arguments.update(arguments)
        return found.function(*bound.args, **bound.kwargs)

    return call


def _with_names(specs: tuple[Any, ...], signature: inspect.Signature) -> list[Any]:
    """Specs that have the names of the parameters, where they have none of their own."""
    named = []
    for spec, name in zip(specs, [*signature.parameters, *[None] * len(specs)], strict=False):
        is_bare = isinstance(spec, TensorSpec) and spec.name is None
        named.append(TensorSpec(spec.shape, spec.dtype, name) if is_bare else spec)
    return named


def _no_key(key: Any) -> int:
    raise TypeError("the key of random numbers")
