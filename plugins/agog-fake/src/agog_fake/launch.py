"""Launch: from a kernel for NumPy arrays to one that queues its work on a device's stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from agog_core.plugin import as_dtype, registry
from agog_fake.array import FakeArray
from agog_fake.memory import empty
from agog_fake.stream import streams

Kernel = Callable[..., Any]
Memory = np.ndarray[Any, Any]

# These refuse some values, and the device is waited for to hear of it. The index and label checks of gather and the
# losses are too frequent for that: what they find is told when somebody waits.
_WAITED_FOR = {
    *("cholesky", "ctc_beam_search_decoder", "eig", "eigvals", "floordiv", "floormod", "invert_permutation"),
    *("matrix_inverse", "matrix_solve", "matrix_solve_ls", "matrix_square_root", "matrix_triangular_solve", "pow"),
    *("reduce_mean", "reverse_sequence", "scatter_nd", "scatter_variable", "self_adjoint_eig", "self_adjoint_eigvals"),
    *("singular_values", "svd", "tensor_scatter_update", "truncatediv", "truncatemod", "unravel_index"),
    *("unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sum"),
}


def on_device(op: str, kernel: Kernel) -> Kernel:
    """Make a kernel for fake arrays: its results have their shapes and dtypes at once, and their values later."""

    def launch(*arrays: FakeArray, **attributes: Any) -> Any:
        index = _device(op, arrays, attributes)
        stream = streams[index]
        compute = partial(kernel, *[array.memory for array in arrays], **attributes)
        if registry[op].updates:
            (stream.now if op in _WAITED_FOR else stream.add)(op, compute)
            return None
        shapes, dtypes, several = _declared(op, arrays, attributes)
        # A rule does not tell shapes that depend on values, or on the kernel.
        is_told = all(isinstance(shape, tuple) for shape in shapes)
        if op in _WAITED_FOR or not is_told:
            outs = [FakeArray(part.copy(), index) for part in _parts(stream.now(op, compute))]
        elif registry[op].views and (views := _views(compute, arrays[0])):
            outs = [FakeArray(view, index, arrays[0]) for view in views]
        else:
            outs = [FakeArray(empty(*each), index) for each in zip(shapes, dtypes, strict=True)]
            stream.add(op, partial(_fill, [out.memory for out in outs], compute))
        return tuple(outs) if several else outs[0]

    launch.__name__ = launch.__qualname__ = op
    launch.__wrapped__ = kernel  # type: ignore[attr-defined]  # whose signature `agog ops` shows
    return launch


def _parts(result: Any) -> list[Memory]:
    """A kernel's results; a function of NumPy gives a scalar where the rank is 0."""
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


def _views(compute: Callable[[], Any], base: FakeArray) -> list[Memory]:
    """The results of an op that may make views, or nothing where one of them is none; no value is looked at."""
    parts = _parts(compute())
    return parts if all(np.may_share_memory(part, base.memory) for part in parts) else []


def _fill(memories: Sequence[Memory], compute: Callable[[], Any]) -> None:
    """Write a kernel's results to the memory that was made for them."""
    for memory, part in zip(memories, _parts(compute()), strict=True):
        if part.shape != memory.shape or part.dtype != memory.dtype:
            raise TypeError(
                f"the op's rules say shape {memory.shape} and dtype {memory.dtype}; the kernel computed shape "
                f"{part.shape} and dtype {part.dtype}."
            )
        memory[...] = part


def _declared(op: str, arrays: tuple[FakeArray, ...], attributes: dict[str, Any]) -> tuple[list[Any], list[Any], bool]:
    """Shapes and dtypes of the results by the op's rules, and whether they come as a tuple."""
    rules = registry[op]
    if rules.inputs:
        kind = as_dtype(arrays[rules.alike[0]].dtype)
    else:
        attributes = dict(attributes)
        kind, _ = as_dtype(attributes.pop("dtype")), attributes.pop("index")
    shapes = rules.shape(*[array.shape for array in arrays], **attributes)
    dtypes = rules.result_dtype(kind, attributes)
    several = isinstance(shapes, list)
    if not several:
        shapes = [shapes]
    if not isinstance(dtypes, list):
        dtypes = [dtypes] * len(shapes)
    return shapes, [dtype.numpy_dtype for dtype in dtypes], several


def _device(op: str, arrays: tuple[FakeArray, ...], attributes: dict[str, Any]) -> int:
    """The device on which a kernel runs: that of its arrays, or for an op without inputs the one that it is told."""
    strangers = [type(array).__name__ for array in arrays if not isinstance(array, FakeArray)]
    if strangers:
        raise TypeError(f"{op}: a kernel of device type 'fake' got {', '.join(strangers)}; it takes FakeArray.")
    devices = sorted({array.index for array in arrays}) or [attributes["index"]]
    if len(devices) > 1:
        names = " and ".join(f"fake:{index}" for index in devices)
        raise RuntimeError(f"{op}: one call got arrays of {names}; copy them to one device first.")
    return devices[0]
