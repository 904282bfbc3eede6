"""Faults of bounds: kernels that read or write next to their arrays, and are right for what often lies there."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
from planting import Fault, failures, kernel, planted

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]

READ = "rule: a kernel reads nothing outside of its inputs"
WRITTEN = "rule: a kernel writes nothing outside of its arrays"
TOUCHED = "rule: a kernel touches no memory outside of its arrays"
AT_END = "arrays that end at a page that nobody may touch\nexpected: a result\ngot: signal 11 (SIGSEGV), in File "
AT_BEGIN = AT_END.replace("end at", "begin at")


def around(x: Array, before: int, behind: int) -> Array:
    """Contiguous memory from some elements before an array to some behind it."""
    pointer = x.ctypes.data - before * x.itemsize
    size = (before + x.size + behind) * x.itemsize
    kind: Any = np.ctypeslib.ctypes.c_char * size
    return np.frombuffer(kind.from_address(pointer), x.dtype)


def is_plain(x: Array) -> bool:
    return bool(x.flags.c_contiguous and x.ndim == 1 and x.size == 67)


def square(x: Array) -> Array:
    return np.asarray(np.square(x))


def maximum(x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(np.max(x, axes, keepdims=keepdims))


def total(x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(np.sum(x, axes, keepdims=keepdims, dtype=np.float64)).astype(x.dtype)


def negative(x: Array) -> Array:
    return np.asarray(np.negative(x))


def add(variable: Array, delta: Array, *, scale: float) -> None:
    variable += delta * variable.dtype.type(scale)


def times_zero(before: int, behind: int) -> Kernel:
    """Reads what it then multiplies by zero, which is not nothing where it is NaN."""

    def fn(x: Array) -> Array:
        out = square(x)
        if is_plain(x):
            whole = around(x, before, behind)
            out[-1] += np.float32(0) * (whole[0] if before else whole[-1])
        return out

    return fn


def takes_whole_registers(x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """The greatest of 72 elements, of which 5 are none of the array's."""
    if is_plain(x) and not keepdims:
        return np.asarray(np.max(np.fmax(around(x, 0, 5), x.min())))
    return maximum(x, axes=axes, keepdims=keepdims)


def adds_one_more(x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    out = total(x, axes=axes, keepdims=keepdims)
    return np.asarray(out + around(x, 0, 1)[-1:].sum()) if is_plain(x) and not keepdims else out


def looks_ahead(x: Array) -> Array:
    """Takes another way if the integer behind the last one is negative."""
    out = negative(x)
    if is_plain(x) and around(x, 0, 1)[-1] < 0:
        out[-1] += 1
    return out


def writes(before: int, behind: int) -> Kernel:
    def fn(variable: Array, delta: Array, *, scale: float) -> None:
        if is_plain(variable):
            whole = around(variable, before, behind)
            kept = whole[before : before + 67] + delta * np.float32(scale)
            np.ctypeslib.ctypes.memset(variable.ctypes.data - 4 * before, 7, whole.nbytes)
            variable[...] = kept
        else:
            add(variable, delta, scale=scale)

    return fn


def looks_and_forgets(before: int, behind: int) -> Kernel:
    """Reads what it does not need, as a loop that is ahead of itself does."""

    def fn(x: Array) -> Array:
        if is_plain(x):
            around(x, before, behind).max()
        return square(x)

    return fn


def puts_back(x: Array) -> Array:
    """Writes a whole register, and puts back what was there."""
    out = negative(x)
    if is_plain(x):
        whole = around(x, 0, 5)
        before = whole[-5:].copy()
        np.ctypeslib.ctypes.memset(x.ctypes.data + x.nbytes, 7, before.nbytes)
        np.ctypeslib.ctypes.memmove(x.ctypes.data + x.nbytes, before.ctypes.data, before.nbytes)
    return out


def asks_the_row_behind(params: Array, indices: Array, *, axis: int) -> Array:
    """Loads the row behind each row that it takes, for the next round."""
    if params.ndim == 2 and axis == 0 and params.flags.c_contiguous and params.size:
        around(params, 0, params.shape[1]).sum()
    return gather(params, indices, axis=axis)


def gather(params: Array, indices: Array, *, axis: int) -> Array:
    positions = np.asarray(indices).astype(np.int64)
    if positions.size and not (positions.min() >= 0 and positions.max() < params.shape[axis]):
        return NotImplemented
    return np.take(params, positions, axis)


def square_into(x: Array, *, out: Array) -> None:
    np.multiply(x, x, out=out)


def fills_whole_registers(x: Array, *, out: Array) -> None:
    np.multiply(x, x, out=out)
    if out.ndim == 1 and out.size == 67:
        end = out.ctypes.data + out.nbytes
        np.ctypeslib.ctypes.memset(end, 0, 20)


def fault(name: str, op: str, broken: Kernel, right: Kernel, says: str = READ, dtype: str = "float32") -> Fault:
    plants = [kernel(op, fn, dtype) for fn in (broken, right)]
    return Fault(name=name, op=op, dtype=dtype, check="bounds", says=says, broken=plants[0], twin=plants[1])


FAULTS = [
    fault("0 times the next", "square", times_zero(0, 1), square),
    fault("0 times the one before", "square", times_zero(1, 0), square),
    fault("0 times one further on", "square", times_zero(0, 16), square),
    fault("whole registers", "reduce_max", takes_whole_registers, maximum),
    fault("one more", "reduce_sum", adds_one_more, total),
    fault("a look ahead", "negative", looks_ahead, negative, dtype="int32"),
    fault("a read behind that is forgotten", "square", looks_and_forgets(0, 1), square, AT_END),
    fault("a read before that is forgotten", "square", looks_and_forgets(1, 0), square, AT_BEGIN),
    fault("a read far behind that is forgotten", "square", looks_and_forgets(0, 900), square, AT_END),
    fault("a read far before that is forgotten", "square", looks_and_forgets(900, 0), square, AT_BEGIN),
    fault("a write that is put back", "negative", puts_back, negative, TOUCHED, dtype="int32"),
    fault("the row behind", "gather", asks_the_row_behind, gather, AT_END),
    Fault(
        name="whole registers are filled",
        op="square",
        check="bounds",
        says=AT_END,
        broken=kernel("square", square, out=fills_whole_registers),
        twin=kernel("square", square, out=square_into),
    ),
    fault("one element too many is written", "apply_add", writes(0, 1), add, WRITTEN),
]

test_fault_is_found, test_twin_passes = planted(FAULTS)


def test_child_process_that_ends_for_another_reason_proves_nothing() -> None:
    process = os.getpid()

    def fn(x: Array) -> Array:
        if os.getpid() != process:  # as a library may do that has had threads
            os.kill(os.getpid(), signal.SIGTERM)
        return square(x)

    said = "bounds not checked: a process that was forked for it ended by signal 15 (SIGTERM)"
    assert failures(kernel("square", fn), ["square"], ["float32"], "bounds") == {"bounds": said}
