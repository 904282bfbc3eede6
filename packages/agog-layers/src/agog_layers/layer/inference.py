"""Inference: the shapes and dtypes of a layer's outputs, by a call on zeros."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agog_core import Tensor, TensorShape, nest, ones, zeros
from agog_core.random import generator
from agog_core.recording import stack
from agog_layers.calls.input_shapes import each_shape, zeros_of_shape
from agog_layers.calls.masks import known, mask_of, with_mask
from agog_layers.layer.symbolic import Node, Symbolic
from agog_layers.serialization.memory_limit import allowance

__all__ = ["call_symbolic", "output_shape", "without_traces"]

# What unknown sizes are in the two calls: the batch's, and others. Sizes of the output that differ are unknown.
_SIZES = ((1, 32), (2, 64))


def call_symbolic(layer: Any, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a layer on symbolic values: infer what comes out, and remember the call."""
    outputs = _infer(layer, inputs, args, kwargs)
    layer.nodes.append(Node(layer, inputs, args, kwargs, outputs))
    return outputs


def _infer(layer: Any, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    quiet = {name: False if name == "training" else value for name, value in kwargs.items()}

    def run(sizes: tuple[int, int]) -> Any:
        x, a, k = _with_zeros([inputs, list(args), quiet], sizes)
        if _tells_shape(layer):
            allowance.get().check(f"the output of layer {layer.name!r}", lambda: _told_shapes(layer, x))
        return layer(x, *a, **k)

    with without_traces(layer):
        first = run(_SIZES[0])
        shapes = [value.shape for value in nest.flatten(first)]
        if not all(symbol.shape.is_fully_defined() for symbol in Node(layer, inputs, args, quiet, ()).parents()):
            shapes = _told(layer, inputs, shapes) or [
                TensorShape([a if a == b else None for a, b in zip(one.as_list(), two.shape.as_list(), strict=True)])
                for one, two in zip(shapes, nest.flatten(run(_SIZES[1])), strict=True)
            ]
    left = iter(shapes)
    return nest.map_structure(lambda value: Symbolic(next(left), value.dtype, layer.name, _mask_rank(value)), first)


def _mask_rank(value: Tensor) -> int:
    mask = mask_of(value) if known else None
    return 0 if mask is None else int(mask.ndim)


def _told(layer: Any, inputs: Any, shapes: list[TensorShape]) -> list[TensorShape] | None:
    """The result of the layer's own `compute_output_shape`; None if it has none, or a wrong one."""
    if not _tells_shape(layer):
        return None
    answers = _told_shapes(layer, inputs)
    if len(answers) != len(shapes) or not all(isinstance(answer, TensorShape) for answer in answers):
        return None
    agree = all(answer.is_compatible_with(shape) for answer, shape in zip(answers, shapes, strict=True))
    return list(answers) if agree else None


def _tells_shape(layer: Any) -> bool:
    """Whether a layer knows the shape of its output without a call."""
    return bool(type(layer).compute_output_shape.__module__ != "agog_layers.layer.layer")


def _told_shapes(layer: Any, inputs: Any) -> list[Any]:
    told = layer.compute_output_shape(nest.map_structure(lambda value: value.shape, inputs))
    return [told] if isinstance(told, TensorShape) else list(told)


def _with_zeros(structure: Any, sizes: tuple[int, int]) -> Any:
    def value(leaf: Any) -> Any:
        if not isinstance(leaf, Symbolic):
            return leaf
        batch, *others = [*leaf.shape.as_list(), None]
        dims = [sizes[0] if batch is None else batch, *(sizes[1] if n is None else n for n in others[:-1])]
        shape = TensorShape(dims[: leaf.shape.ndims])
        allowance.get().check(f"the value {leaf.name!r}", lambda: [shape])
        mask = ones(dims[: leaf.mask_rank], "bool") if leaf.mask_rank else None
        return with_mask(zeros(shape, leaf.dtype), mask)

    return nest.map_structure(value, structure)


@contextmanager
def without_traces(layer: Any) -> Iterator[None]:
    """Call a layer unseen by tapes, and restore its state afterwards."""
    tapes = stack.set(())
    before: list[tuple[Any, Tensor]] = [(variable, variable.value()) for variable in layer.variables]
    random = generator().get_state()
    states = [(vars(module), vars(module)["_states"]) for module in layer._walk(set()) if "_states" in vars(module)]
    for attributes, value in states:
        attributes["_states"] = type(value)()
    try:
        yield
    finally:
        for variable, value in before:
            if variable.value() is not value:
                variable.assign(value)
        if len(layer.variables) == len(before):
            generator().set_state(random)
        for attributes, value in states:
            attributes["_states"] = value
        for module in layer._walk(set()):
            module._call_losses.clear()
        stack.reset(tapes)


def output_shape(layer: Any, input_shape: Any) -> Any:
    """The shape of what a layer makes of inputs of a shape, or a structure of those."""
    shapes = each_shape(input_shape)
    batch_is_known = all(shape[:1] != [None] for shape in shapes)

    def run(unknown: int) -> Any:
        return layer(zeros_of_shape(input_shape, layer.dtype or "float32", unknown))

    def common(one: Tensor, two: Tensor) -> TensorShape:
        sizes = [a if a == b else None for a, b in zip(one._shape, two._shape, strict=True)]
        return TensorShape(sizes if batch_is_known else [None, *sizes[1:]])

    outputs = run(32)
    again = outputs if all(shape[1:].is_fully_defined() for shape in shapes) else run(64)
    return nest.map_structure(common, outputs, again)
