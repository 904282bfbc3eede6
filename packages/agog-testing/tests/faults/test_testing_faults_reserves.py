"""Faults of kernels that keep a reserve for their gradient's: each is found, and a sound pair passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from planting import Fault, Plant, failures, planted

from agog_core.plugin import Kernel
from agog_kernels_xp.conv import pooling_ops

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]


def pool(x: Array, **form: Any) -> Array:
    return pooling_ops.max_pool(np, x, **form)


def pool_and_input(x: Array, **form: Any) -> tuple[Array, Array]:
    return pool(x, **form), x.copy()


def route(gradient: Array, x: Array, maxima: Array, **form: Any) -> Array:
    return pooling_ops.max_pool_grad(np, gradient, x, maxima, **form)


def route_by_reserve(gradient: Array, x: Array, maxima: Array, kept: Array, **form: Any) -> Array:
    return pooling_ops.max_pool_grad(np, gradient, kept, maxima, **form)


def both(keep: Function = pool_and_input, take: Function = route_by_reserve, fn: Function = pool) -> Plant:
    """The kernels of max_pool and of its gradient, with functions for the reserve."""
    facts: dict[str, Any] = {"device": "cpu", "dtypes": ("float32", "float64"), "priority": 200}
    return Plant(
        kernels=(
            Kernel(op="max_pool", fn=fn, reserve=keep, **facts),
            Kernel(op="max_pool_grad", fn=route, reserve=take, **facts),
        )
    )


SOUND = both()
_scratch: dict[tuple[int, ...], Array] = {}
_held: list[Array] = []


def keep_wrong(x: Array, **form: Any) -> tuple[Array, Array]:
    return pool(x, **form), np.flip(x, -1).copy() + x


def keep_other_result(x: Array, **form: Any) -> tuple[Array, Array]:
    return np.nextafter(pool(x, **form), x.dtype.type(0)), x.copy()


def keep_in_scratch(x: Array, **form: Any) -> tuple[Array, Array]:
    kept = _scratch.setdefault(x.shape, np.empty_like(x))
    kept[...] = x
    return pool(x, **form), kept


def keep_for_ever(x: Array, **form: Any) -> tuple[Array, Array]:
    _held[:] = [x.copy()]
    return pool(x, **form), _held[0]


def keep_nothing(x: Array, **form: Any) -> Any:
    return pool(x, **form)


def keep_no_array(x: Array, **form: Any) -> Any:
    return pool(x, **form), "positions"


def decline(*arrays: Array, **form: Any) -> Any:
    return NotImplemented


def pool_and_hold(x: Array, **form: Any) -> Array:
    _held.append(x.copy())
    return pool(x, **form)


def route_and_clear(gradient: Array, x: Array, maxima: Array, kept: Array, **form: Any) -> Array:
    out = route_by_reserve(gradient, x, maxima, kept, **form)
    kept[...] = 0
    return out


def route_twice_as_much(gradient: Array, x: Array, maxima: Array, kept: Array, **form: Any) -> Array:
    return 2 * route_by_reserve(gradient, x, maxima, kept, **form)


def alone(op: str, reserve: Function, fn: Function) -> Plant:
    return Plant(kernels=(Kernel(op=op, device="cpu", fn=fn, reserve=reserve, dtypes=("float32",), priority=200),))


def fault(name: str, broken: Plant, says: str, check: str = "reserve", op: str = "max_pool") -> Fault:
    return Fault(name=name, op=op, check=check, says=says, broken=broken, twin=SOUND)


CHANGED = "rule: what takes a reserve does not change it"
RULE = "rule: a kernel's `reserve` returns what the kernel does, and last an array for its gradient's kernel"

test_fault_is_found, test_twin_passes = planted(
    [
        fault("a wrong reserve", both(keep_wrong), "rule: gradients with a reserve are those without"),
        fault("another result with it", both(keep_other_result), RULE),
        fault("a reserve shared between calls", both(keep_in_scratch), "rule: each call has a reserve of its own"),
        fault("a reserve that is changed", both(take=route_and_clear), CHANGED),
        fault("a reserve that outlives its tape", both(keep_for_ever), "rule: a reserve ends with the tapes"),
        fault("a reserve that is missing", both(keep_nothing), "a tuple of 2 arrays is expected"),
        fault("a reserve that is no array", both(keep_no_array), "returned str; a kernel returns ndarray"),
        fault("one that is never kept", both(decline), "NotImplemented for each call"),
        fault("a wrong gradient of it", both(take=route_twice_as_much), "rule: gradients with a reserve are those"),
        fault("one that is kept without a tape", both(fn=pool_and_hold), "rule: ", check="leaks"),
        fault("one that is returned without a tape", both(fn=pool_and_input), "rule: ", check="type"),
        fault("nobody takes it", alone("max_pool", pool_and_input, pool), "got: nobody takes what it keeps"),
        fault(
            "nobody keeps it",
            alone("max_pool_grad", route_by_reserve, route),
            "got: nobody keeps what it takes",
            op="max_pool_grad",
        ),
    ]
)


def test_kernel_that_takes_calls_by_its_reserve_alone() -> None:
    facts: dict[str, Any] = {"device": "cpu", "dtypes": ("float32",), "priority": 200}
    keeper = Kernel(op="max_pool", fn=pool, reserve=pool_and_input, **facts)
    taker = Kernel(op="max_pool_grad", fn=decline, reserve=route_by_reserve, **facts)
    assert failures(Plant(kernels=(keeper, taker)), ["max_pool", "max_pool_grad"]) == {}
