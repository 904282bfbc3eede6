"""Interpreter: the reference compiler, with one NumPy call for each primitive of a `Subgraph`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core.compiler import ArraySpec, Primitive, Subgraph


def takes(primitive: Primitive, values: Sequence[ArraySpec]) -> bool:
    """All primitives are taken."""
    return True


def compile(subgraph: Subgraph) -> Callable[..., None]:
    """A function that fills the outputs, and raises if its call contradicts the `Subgraph`."""

    def run(*arrays: Any) -> None:
        given, outs = arrays[: len(subgraph.inputs)], arrays[len(subgraph.inputs) :]
        for number, array in (*zip(subgraph.inputs, given, strict=True), *zip(subgraph.outputs, outs, strict=True)):
            _check(array, subgraph.values[number], is_output=number in subgraph.outputs)
        _check_memory(subgraph, given, outs)
        found = evaluate(subgraph, given)
        for number, out in zip(subgraph.outputs, outs, strict=True):
            out[...] = found[number]

    return run


def evaluate(subgraph: Subgraph, inputs: Sequence[Any]) -> dict[int, Any]:
    """The value of each number of a subgraph."""
    found = {**subgraph.constants, **dict(zip(subgraph.inputs, inputs, strict=True))}
    for primitive in subgraph.primitives:
        operands = [found[number] for number in primitive.inputs]
        found[primitive.output] = _computed(primitive, operands, subgraph.values[primitive.output])
    return found


def _computed(primitive: Primitive, operands: list[Any], spec: ArraySpec) -> Any:
    if primitive.kind == "bits":
        return np.asarray(operands[0]).view(spec.dtype)
    out = _empty(spec)
    if primitive.kind == "ufunc":
        getattr(np, primitive.name)(*operands, out=out)
    elif primitive.kind == "reduce":
        getattr(np, primitive.name).reduce(operands[0], out=out, **primitive.options)
    elif primitive.kind == "where":
        out[...] = np.where(*operands)
    else:
        np.copyto(out, operands[0], "unsafe")
    return out


def _empty(spec: ArraySpec) -> Any:
    """An array with axes in the order of a spec's strides, which determines the rounding of sums."""
    axes = sorted(range(len(spec.shape)), key=lambda axis: -spec.strides[axis])
    return np.empty([spec.shape[axis] for axis in axes], spec.dtype).transpose(np.argsort(axes))


def _check(array: Any, spec: ArraySpec, is_output: bool) -> None:
    assert isinstance(array, np.ndarray if spec.shape or is_output else np.generic), type(array)
    pairs = zip(spec.shape, spec.strides, array.strides, strict=True)
    assert (array.dtype.name, array.shape) == (spec.dtype, spec.shape), (array.dtype, array.shape, spec)
    assert all(size < 2 or one == other for size, one, other in pairs), (array.strides, spec)


def _check_memory(subgraph: Subgraph, given: Sequence[Any], outs: Sequence[Any]) -> None:
    """No output shares memory with another array, except for the pairs in ``overwrites``."""
    for n, out in enumerate(outs):
        assert not any(np.may_share_memory(out, other) for other in outs[:n]), "two outputs in one place"
        for number, array in zip(subgraph.inputs, given, strict=True):
            if isinstance(array, np.ndarray) and np.shares_memory(out, array):
                assert (subgraph.outputs[n], number) in subgraph.overwrites, "an input is overwritten"
                assert out.__array_interface__["data"] == array.__array_interface__["data"]
