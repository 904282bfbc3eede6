"""Signature: what a model or function takes and gives, with names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agog_core import Tensor, TensorSpec, nest
from agog_core.tensors.convert import convert_to_tensor
from agog_layers import Layer


class Signature(NamedTuple):
    """What is exported.

    Args:
        function: takes the tensors one by one.
        specs: of these.
        names: their names.
    """

    function: Callable[..., Any]
    specs: list[TensorSpec]
    names: list[str]


def signature_of(target: Any, input_signature: Any) -> Signature:
    """How a model or function is called: by an input signature, or by what it says itself."""
    given = _given(target) if input_signature is None else _as_arguments(input_signature)
    arguments = nest.map_structure(_spec, given)
    leaves = nest.flatten(arguments)
    if not leaves:
        raise ValueError("tf.export.onnx: the input signature has no tensors; a model needs an input.")
    run = _inference(target)

    def function(*tensors: Tensor) -> Any:
        return run(*nest.pack(arguments, list(tensors)))

    return Signature(function, leaves, _names(target, arguments, leaves))


def output_names(target: Any, result: Any, count: int) -> list[str]:
    """The names of results: keys and fields, a model's outputs, or ``output`` with a number."""
    if nest.is_mapping(result) or hasattr(result, "_fields"):
        by_structure = [name for name, _ in _paths(result, "")]
        if len(by_structure) == len(set(by_structure)) == count:
            return by_structure
    of_model = list(getattr(target, "output_names", None) or ())
    if len(of_model) == count and len(set(of_model)) == count:
        return of_model
    return ["output"] if count == 1 else [f"output_{n}" for n in range(count)]


def _given(target: Any) -> tuple[Any, ...]:
    """The arguments that a function with a signature, or a model that is built, takes."""
    signature = getattr(target, "input_signature", None)
    if signature is None and hasattr(target, "structured_input_signature"):
        signature = target.structured_input_signature[0]
    if signature is not None:
        return tuple(signature)
    inputs = getattr(target, "inputs", None) if isinstance(target, Layer) else None
    if not inputs:
        name = getattr(target, "name", None) or getattr(target, "__name__", repr(target))
        raise ValueError(
            f"tf.export.onnx: {name} does not say what it takes; give an input_signature, such as "
            '[tf.TensorSpec([None, 28, 28, 1], "float32")].'
        )
    names = list(getattr(target, "input_names", None) or ())
    names = names if len(names) == len(inputs) else [None] * len(inputs)
    specs = [TensorSpec(each.shape, each.dtype, name) for each, name in zip(inputs, names, strict=True)]
    return (specs[0] if len(specs) == 1 else specs,)


def _as_arguments(input_signature: Any) -> tuple[Any, ...]:
    return tuple(input_signature) if isinstance(input_signature, (list, tuple)) else (input_signature,)


def _spec(leaf: Any) -> TensorSpec:
    if isinstance(leaf, TensorSpec):
        return leaf
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        return TensorSpec.from_tensor(convert_to_tensor(leaf))
    raise TypeError(
        f"tf.export.onnx: input_signature must be a list of TensorSpec, or of structures of them; got {leaf!r}."
    )


def _inference(target: Any) -> Callable[..., Any]:
    """What computes in inference: layers are told that they do not train."""
    if isinstance(target, Layer):
        return lambda *args: target(*args, training=False)
    function = getattr(target, "python_function", target)
    if not callable(function):
        raise TypeError(f"tf.export.onnx: a model or a function is needed; got {target!r}.")
    return function  # type: ignore[no-any-return]


def _names(target: Any, arguments: Sequence[Any], leaves: Sequence[TensorSpec]) -> list[str]:
    """The names of the tensors: those of their specs, or of the function's parameters."""
    function = target.call if isinstance(target, Layer) else getattr(target, "python_function", target)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    found: list[str] = []
    for place, argument in enumerate(arguments):
        base = positional[place] if place < len(positional) else f"input_{place}"
        found += [f"{base}.{path}" if path else base for path, _ in _paths(argument, "")]
    return [spec.name or name for spec, name in zip(leaves, found, strict=True)]


def _paths(structure: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The leaves of a structure, in the order of `nest.flatten`, with their keys, fields or places."""
    parts: list[tuple[Any, Any]]
    if nest.is_mapping(structure):
        parts = [(key, structure[key]) for key in _ordered(structure)]
    elif isinstance(structure, (list, tuple)):
        fields = getattr(structure, "_fields", None) or range(len(structure))
        parts = list(zip(fields, structure, strict=True))
    else:
        yield path, structure
        return
    for key, part in parts:
        yield from _paths(part, f"{path}.{key}" if path else str(key))


def _ordered(mapping: Mapping[Any, Any]) -> list[Any]:
    """The keys of a mapping in the order in which its leaves come."""
    return nest.flatten({key: key for key in mapping}) if mapping else []
