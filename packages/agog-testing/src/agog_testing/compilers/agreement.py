"""Agreement: what runs a call as a traced function gives the bits that the kernels give, and leaves all else alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from agog_core.compiler import KernelTable, adopted, kernel_of, run_next
from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.op import Op, registry
from agog_core.dtypes import DType, as_dtype, bool_
from agog_testing.comparison import share_memory
from agog_testing.subject import Violation

RULE = "a traced function gives the bits, shapes, dtypes and strides that eager calls give"
LOOSE_RULE = "a traced function of exact=False gives what eager calls give, within the compiler's tolerances"
TYPE = "what runs a traced function returns arrays of its device's type"
INPUTS = "what runs a traced function does not change its inputs"
MEMORY = "a result of a traced function is no view of an input unless the op is one"
RESULTS = "what runs a traced function leaves earlier results alone"

Tolerances = Mapping[str, tuple[float, float]]
Run = Callable[[Sequence[Any], Sequence[Any]], Any]


class Call(NamedTuple):
    """A call of the kernel that a table has for an op, and how a traced function makes it.

    Args:
        op: the op.
        table: the table of its kernel.
        arrays: what the kernel is given.
        attributes: the attributes that it is given.
        has_lates: whether attributes that programs may know late are numbers of the graph.
        is_followed: whether another op follows, which gives one more result: compilers fuse two and more.
    """

    op: Op
    table: KernelTable
    arrays: tuple[Any, ...]
    attributes: Mapping[str, Any]
    has_lates: bool = False
    is_followed: bool = False

    def __str__(self) -> str:
        return f"{self.op.name} of {', '.join(f'{array.dtype} {array.shape}' for array in self.arrays)}"


def compare(run: Run, call: Call, sample: str, tolerances: Tolerances | None = None) -> None:
    """Compare what runs calls of a kind with the kernels.

    Args:
        run: an executor's function of the graph of such a call.
        call: the call of the kernel in its table, or of the next in rank where that declines.
        sample: the name of the sample that made it.
        tolerances: per dtype name the pair (rtol, atol) within which results are equal; None: bits are compared.
    """
    device, count, where = call.table.device, len(call.op.updates), f"{sample}: {call}"
    rule = RULE if tolerances is None else LOOSE_RULE
    expected = eager(call)[0]
    if call.is_followed:
        expected.append(follower(call, expected[0]).run(expected[0]))
    inputs = call.arrays[count:]
    before = list(map(_host_copy(device), inputs))
    earlier: Sequence[Any] = ()
    for _ in range(2):  # the second time in memory that the first has left
        outputs, finals = run(inputs, [device.copy(array) for array in call.arrays[:count]])
        found = finals if count else outputs
        _check(call, expected, found, rule, where, tolerances)
        for array, value in zip(inputs, before, strict=True):
            if not are_equal(value, device.to_host(array)):
                raise Violation(INPUTS, where, _shown(value), _shown(device.to_host(array)))
            # Whoever writes to an array that is also a result sees that it has another owner; of a view he does not.
            others = () if call.op.views else [each for each in outputs if each is not array]
            if any(share_memory(device, each, array) for each in others):
                raise Violation(MEMORY, where, "memory of its own", "the memory of an input")
        if earlier:
            _check(call, expected, earlier, RESULTS, where, tolerances)
            if any(share_memory(device, one, other) for one, other in _pairs(call, earlier, found)):
                raise Violation(RESULTS, where, "memory of its own", "the memory of an earlier result")
        earlier = found


def _pairs(call: Call, earlier: Sequence[Any], found: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Results of two calls that have memory of their own, since none is a view or an input."""
    if call.op.views:
        return []
    own = [[each for each in results if not any(each is x for x in call.arrays)] for results in (earlier, found)]
    return [(one, other) for one in own[0] for other in own[1]]


class Follower(NamedTuple):
    """An op that follows another one in a graph, and the table of its kernel."""

    op: Op
    table: KernelTable

    def run(self, array: Any) -> Any:
        """What it gives."""
        return eager(Call(self.op, self.table, (array,), {}))[0][0]


def follower(call: Call, result: Any) -> Follower:
    """What follows a call, by its first result; see `can_be_followed`."""
    name, dtype = _follower(call, result)
    return Follower(registry[name], call.table.device.table(dtype))


def can_be_followed(call: Call) -> bool:
    """Whether another op can follow: an elementwise one is a single primitive, and compilers want two."""
    if not call.op.elementwise or call.op.updates:
        return False
    result = eager(call)[0][0]
    if call.table.device.to_host(result).dtype == object:
        return False
    name, dtype = _follower(call, result)
    return dtype in registry[name].dtypes


def _follower(call: Call, result: Any) -> tuple[str, DType]:
    dtype = as_dtype(call.table.device.to_host(result).dtype)
    return "logical_not" if dtype is bool_ else "negative", dtype


def _host_copy(device: Device) -> Callable[[Any], Any]:
    return lambda array: np.array(device.to_host(array))


def eager(call: Call) -> tuple[list[Any], bool]:
    """What an eager call gives, by the first kernel in rank that takes it: results, or what is updated; and whether
    the kernel returns a tuple.
    """
    op, table, count = call.op, call.table, len(call.op.updates)
    updated, rest = [table.device.copy(array) for array in call.arrays[:count]], call.arrays[count:]
    kernel = kernel_of(op, table)
    result = kernel(*updated, *rest, **call.attributes)
    if result is NotImplemented:
        result = run_next(op, table, (*updated, *rest), call.attributes)
    else:
        result = adopted(op, table, result, kernel)
    if result is None:
        return updated, False
    return (list(result), True) if isinstance(result, tuple) else ([result], False)


def _check(
    call: Call, wanted: Sequence[Any], found: Sequence[Any], rule: str, where: str, tolerances: Tolerances | None
) -> None:
    """Raise `Violation` where arrays of a device are not the wanted ones."""
    device = call.table.device
    for one, other in zip(wanted, found, strict=True):
        if not isinstance(other, device.array_type):
            raise Violation(TYPE, where, device.array_type.__name__, type(other).__name__)
        want, got = device.to_host(one), device.to_host(other)
        if not _is_same(want, got, call.op.views, tolerances):
            raise Violation(rule, where, _shown(want), _shown(got))


def _is_same(want: Any, got: Any, is_view: bool, tolerances: Tolerances | None) -> bool:
    if (want.dtype, want.shape) != (got.dtype, got.shape):
        return False
    pairs = zip(want.shape, want.strides, got.strides, strict=True)
    if want.size and not is_view and any(size > 1 and one != other for size, one, other in pairs):
        return False
    return are_equal(want, got) if tolerances is None else _are_near(want, got, tolerances)


def _are_near(want: Any, got: Any, tolerances: Tolerances) -> bool:
    rtol, atol = tolerances.get(want.dtype.name, (0.0, 0.0))
    if not (rtol or atol):
        return are_equal(want, got)
    scale = np.max(np.abs(want), initial=1.0, where=np.isfinite(want))  # to which sums of many terms are rounded
    return bool(np.allclose(got, want, rtol, atol * scale, equal_nan=True))


def are_equal(want: Any, got: Any) -> bool:
    """Whether arrays of one dtype and shape have equal bits, except for the payloads of NaN."""
    if want.dtype == object or want.tobytes() == got.tobytes():
        return bool((want == got).all()) if want.dtype == object else True
    if want.dtype.kind not in "fcV":
        return False
    parts = [(want.real, got.real), (want.imag, got.imag)] if want.dtype.kind == "c" else [(want, got)]
    for one, other in parts:
        is_nan = one != one
        same_sign = np.signbit(one.astype("float64")) == np.signbit(other.astype("float64"))
        if not bool((np.where(is_nan, other != other, (one == other) & same_sign)).all()):
            return False
    return True


def _shown(array: Any) -> str:
    return f"{array.dtype} {array.shape} of strides {array.strides}: {array!r}"
