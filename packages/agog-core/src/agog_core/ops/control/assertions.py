"""Assertions about values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from agog_core import nest
from agog_core.calls.docstrings import documented, documented_like
from agog_core.calls.elementwise import operands
from agog_core.dtypes import bool_
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.reshaping import reshape
from agog_core.ops.control.printing import formatted
from agog_core.ops.math.logic import equal, greater, greater_equal, less, less_equal, not_equal
from agog_core.ops.reduce.reduction import reduce_all
from agog_core.tensors import SparseTensor, Tensor, TensorLike
from agog_core.tensors.convert import computed, convert_to_tensor, decided, failing, host_value, is_tensor
from agog_core.tracers import present_tracer, tracing

__all__ = [
    "Assert",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "is_non_decreasing",
    "is_strictly_increasing",
]


def Assert(condition: TensorLike, data: Sequence[TensorLike], summarize: int | None = None, name: Any = None) -> None:
    """Raise unless a condition holds.

    Args:
        condition: a scalar of bool.
        data: what the error shows.
        summarize: how many elements of each tensor it shows at either end; None for 3, -1 for all.

    Raises:
        InvalidArgumentError: the condition does not hold.

    >>> Assert(less(1, 2), ["1 is less"])
    """
    holds = convert_to_tensor(condition)
    if holds.dtype is not bool_ or math.prod(holds._shape) != 1:
        bool(holds)  # which says what is wrong

    def refuse(hosts: Sequence[Any], data: Any) -> NoReturn:
        text = f"Assert: the condition does not hold. Data: {_shown(data, summarize)}"
        raise InvalidArgumentError(text)

    demand(_all, [holds], [], refuse, data)


def demand(
    is_so: Callable[..., bool],
    deciding: Sequence[Tensor],
    others: Sequence[Tensor],
    refuse: Callable[[Sequence[Any], Any], Any],
    data: Sequence[TensorLike] | None,
) -> None:
    """Call ``refuse(hosts, data)``, which raises, if the tensors' values violate the condition; the hosts are those of
    the others too. A function that is being traced does so at each run.
    """
    tracer = present_tracer() if tracing else None
    leaves = [] if tracer is None else nest.flatten([] if data is None else list(data))
    if tracer is None or not tracer.records or any(isinstance(leaf, SparseTensor) for leaf in leaves):
        if not decided(is_so, *deciding):
            refuse([failing(x) for x in (*deciding, *others)], data)
        return
    # What runs later holds no tensors.
    first, count, places = (
        len(deciding),
        len(deciding) + len(others),
        [place for place, leaf in enumerate(leaves) if is_tensor(leaf)],
    )
    tensors = [*deciding, *others, *[convert_to_tensor(leaves[place]) for place in places]]
    form, rest = nest.map_structure(lambda leaf: None, [] if data is None else list(data)), list(leaves)
    for place in places:
        rest[place] = None

    def look(*hosts: Any) -> list[Any]:
        if not is_so(*hosts[:first]):
            shown = dict(zip(places, hosts[count:], strict=True))
            refuse(hosts[:count], nest.pack(form, [shown.get(place, leaf) for place, leaf in enumerate(rest)]))
        return []

    computed(look, tensors, [], may_fail=True)


def _shown(data: Sequence[TensorLike], summarize: int | None) -> str:
    return ", ".join(formatted(each, 3 if summarize is None else summarize, failing) for each in data)


def fail(
    error: type[Exception],
    text: str,
    message: str | None,
    data: Sequence[TensorLike] | None = None,
    summarize: int | None = None,
) -> NoReturn:
    """Raise the error of a check: what it found, behind the message, with the data as `Assert` shows them."""
    shown = f" Data: {_shown(data, summarize)}" if data else ""
    raise error(f"{f'{message}: ' if message else ''}{text}{shown}")


_SECTIONS = """
    Args:
        x: a tensor of numbers.{y}
        data: what the error shows besides.
        summarize: how many elements of each tensor of ``data`` it shows at either end; None for 3, -1 for all.
        message: what the error begins with.

    Raises:
        InvalidArgumentError: it does not.
"""
_Y = "\n    y: a tensor of the same dtype whose shape broadcasts with ``x``'s."


def _all(holds: Any) -> bool:
    return bool(np.all(holds))


def _compared(name: str, symbol: str, compare: Callable[..., Tensor], example: str) -> Callable[..., None]:
    """Make a check that a comparison holds for all elements of two tensors."""

    def check(
        x: TensorLike,
        y: TensorLike,
        data: Sequence[TensorLike] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> None:
        first, second = operands(check.__name__, ("x", "y"), x, y)
        compared = compare(first, second)

        def refuse(hosts: Sequence[Any], data: Any) -> NoReturn:
            where, failure = _failure(hosts[0])
            left, right = (np.broadcast_to(each, hosts[0].shape)[where] for each in hosts[1:])
            text = (
                f"{check.__name__}: x {symbol} y did not hold {failure}: x is {left}, y is {right} (shapes "
                f"{hosts[1].shape} and {hosts[2].shape})."
            )
            fail(InvalidArgumentError, text, message, data, summarize)

        demand(_all, [compared], [first, second], refuse, data)

    return _named(check, name, f"x {symbol} y", example, _Y)


def _signed(name: str, symbol: str, compare: Callable[..., Tensor], example: str) -> Callable[..., None]:
    """Make a check of the sign of all elements of a tensor."""

    def check(
        x: TensorLike,
        data: Sequence[TensorLike] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> None:
        tensor = convert_to_tensor(x)
        compared = compare(tensor, 0)

        def refuse(hosts: Sequence[Any], data: Any) -> NoReturn:
            where, failure = _failure(hosts[0])
            text = (
                f"{check.__name__}: x {symbol} 0 did not hold {failure}: x is {hosts[1][where]} (shape "
                f"{hosts[1].shape})."
            )
            fail(InvalidArgumentError, text, message, data, summarize)

        demand(_all, [compared], [tensor], refuse, data)

    return _named(check, name, f"x {symbol} 0", example)


def _failure(holds: np.ndarray[Any, Any]) -> tuple[tuple[int, ...], str]:
    """The first failure of a condition, and words for the number and positions of failures."""
    where = tuple(int(i) for i in np.argwhere(~holds)[0])
    return where, f"for {np.sum(~holds)} of {holds.size} elements{f', first at {where}' if where else ''}"


def _named(check: Callable[..., None], name: str, condition: str, example: str, y: str = "") -> Callable[..., None]:
    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Raise unless ``{condition}`` holds for all elements.\n\n>>> {name}({example})\n"
    return documented(_SECTIONS, y=y)(check)


assert_equal = _compared("assert_equal", "==", equal, "[1, 2], [1, 2]")
assert_none_equal = _compared("assert_none_equal", "!=", not_equal, "[1, 2], 3")
assert_less = _compared("assert_less", "<", less, "[1, 2], 3")
assert_less_equal = _compared("assert_less_equal", "<=", less_equal, "[1, 3], 3")
assert_greater = _compared("assert_greater", ">", greater, "[4, 5], 3")
assert_greater_equal = _compared("assert_greater_equal", ">=", greater_equal, "[3, 4], 3")
assert_positive = _signed("assert_positive", ">", greater, "[1, 2]")
assert_negative = _signed("assert_negative", "<", less, "[-1, -2]")
assert_non_negative = _signed("assert_non_negative", ">=", greater_equal, "[0, 1]")
assert_non_positive = _signed("assert_non_positive", "<=", less_equal, "[0, -1]")


def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike = None,
    atol: TensorLike = None,
    data: Sequence[TensorLike] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise unless two tensors are close: ``|x - y| <= atol + rtol |y|`` for all elements.

    Args:
        x: a tensor of floats or complex numbers.
        y: a tensor of the same dtype whose shape broadcasts with ``x``'s.
        rtol, atol: the relative and the absolute tolerance; None for ten times the distance from 1 to the next number
            of the dtype.
        Other arguments: see `assert_equal`.

    Raises:
        InvalidArgumentError: they are not.

    >>> assert_near([1.0], [1.0000001])
    """
    first, second = operands("assert_near", ("x", "y"), x, y)
    dtype = first.dtype.real_dtype
    eps = 10 * (2.0**-7 if dtype.name == "bfloat16" else float(np.finfo(dtype.numpy_dtype).eps))
    relative, absolute = (eps if each is None else float(host_value(each)) for each in (rtol, atol))
    kind = np.complex128 if first.dtype.is_complex else np.float64

    def near(x: Any, y: Any) -> Any:
        left, right = x.astype(kind), y.astype(kind)
        return np.abs(left - right) <= absolute + relative * np.abs(right)

    def refuse(hosts: Sequence[Any], data: Any) -> NoReturn:
        left, right = np.broadcast_arrays(*[host.astype(kind) for host in hosts])
        where, failure = _failure(near(left, right))
        text = (
            f"assert_near: x and y not equal to tolerance: |x - y| <= {absolute:g} + {relative:g} |y| did not hold "
            f"{failure}: x is {left[where]}, y is {right[where]} (shapes {hosts[0].shape} and {hosts[1].shape})."
        )
        fail(InvalidArgumentError, text, message, data, summarize)

    demand(lambda x, y: _all(near(x, y)), [first, second], [], refuse, data)


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether no element is smaller than the one before it.

    Args:
        x: a tensor of numbers, of any shape; its elements are taken row by row.

    Returns:
        A scalar of bool; True for fewer than two elements.

    >>> print(is_non_decreasing([1, 1, 2]))
    tf.Tensor(True, shape=(), dtype=bool)
    """
    return _neighbours(x, less_equal)


@documented_like(is_non_decreasing)
def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether every element is larger than the one before it.

    >>> print(is_strictly_increasing([1, 1, 2]))
    tf.Tensor(False, shape=(), dtype=bool)
    """
    return _neighbours(x, less)


def _neighbours(x: TensorLike, compare: Callable[..., Tensor]) -> Tensor:
    flat = reshape(x, (-1,))
    return reduce_all(compare(flat[:-1], flat[1:]))
