"""Values, shapes and errors for the samples of many ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_core.errors import InvalidArgumentError
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample, Sized

Rng = np.random.Generator
Values = Callable[[str, Rng, tuple[int, ...]], Array]

SHAPES = ((), (1,), (3,), (2, 3), (0,), (2, 0, 3), (4, 1, 5), (67,))
"""From tiny to odd: 0-d, empty, and longer than any vector register by a rest."""

SHAPE_PAIRS = (
    *(((), ()), ((3,), (3,)), ((2, 3), (2, 3)), ((67,), (67,)), ((0,), (0,))),
    *(
        ((2, 3), (3,)),
        ((2, 1), (1, 3)),
        ((), (4,)),
        ((4,), ()),
        ((1,), (3,)),
        ((5, 1, 4), (3, 1)),
        ((0,), (1,)),
        ((2, 0), (1, 1)),
    ),
)
"""Two shapes that broadcast."""

INTEGERS = "int16, int32, int64, int8, uint16, uint32, uint64, uint8"
FLOATING = "bfloat16, float16, float32, float64"
ORDERED = f"{FLOATING}, {INTEGERS}"
DIFFERENTIABLE = "bfloat16, complex128, complex64, float16, float32, float64"
NUMERIC = f"bfloat16, complex128, complex64, float16, float32, float64, {INTEGERS}"
NUMERIC_OR_BOOL = f"bfloat16, bool, complex128, complex64, float16, float32, float64, {INTEGERS}"

SUMS = {"float16": (1e-2, 2e-2), "bfloat16": (5e-2, 1e-1), "float32": (2e-6, 2e-5), "float64": (1e-13, 1e-12)}
"""(rtol, atol) of sums of values around 1.

CuPy's sum of 4,097 float32 numbers was off by 1.6e-5 on a card, which is 1e-8 of the sum of their magnitudes.
"""

_STRINGS = np.array([b"", b"a", b"bc", b"\x00\xff", b"a longer one"], object)


def uniform(dtype: str, rng: Rng, shape: tuple[int, ...], low: float = -3, high: float = 3) -> Array:
    """Random values of any dtype; numbers are from low to high, unsigned ones from 0."""
    kind = as_dtype(dtype)
    if kind.is_bool:
        return np.asarray(rng.integers(0, 2, shape) == 1)
    if kind.is_integer:
        first = max(int(low), 0) if kind.is_unsigned else int(low)
        return np.asarray(rng.integers(first, int(high) + 1, shape)).astype(kind.numpy_dtype)
    if dtype == "string":
        return _STRINGS[rng.integers(0, len(_STRINGS), shape)] if shape else np.array(b"a", object)
    values = rng.uniform(low, high, shape)
    if kind.is_complex:
        values = values + 1j * rng.uniform(low, high, shape)
    return np.asarray(values).astype(kind.numpy_dtype)


def between(low: float, high: float) -> Values:
    """Random values in a range."""
    return lambda dtype, rng, shape: uniform(dtype, rng, shape, low, high)


def nonzero(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Random values of both signs, at least 0.5 (integers: 1) away from zero."""
    values = uniform(dtype, rng, shape, 1 if as_dtype(dtype).is_integer else 0.5, 3)
    if as_dtype(dtype).is_unsigned:
        return values
    return np.asarray(np.where(rng.integers(0, 2, shape) == 1, values, -values)).astype(values.dtype)


def ties(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Random integral numbers, bools or strings of which many are equal."""
    if as_dtype(dtype).is_differentiable:
        return uniform("int64", rng, shape, -1, 1).astype(as_dtype(dtype).numpy_dtype)
    return uniform(dtype, rng, shape, 0, 2)


def units(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Random numbers 1 and -1, so that products stay small; unsigned ones are 1."""
    ones = np.ones(shape, as_dtype(dtype).numpy_dtype)
    return ones if as_dtype(dtype).is_unsigned else np.where(rng.integers(0, 2, shape) == 1, ones, -ones)


def constant(dtype: str, values: Any) -> Array:
    """An array of given numbers, nested in lists; as strings they are their digits."""
    array = np.array(values)
    if dtype == "string":
        return array.astype(np.bytes_).astype(object)
    return array.astype(as_dtype(dtype).numpy_dtype)


def is_float(dtype: str) -> bool:
    """Whether a dtype is a real floating-point one, which has NaN and infinities."""
    return as_dtype(dtype).is_floating


def limits(dtype: str) -> Array:
    """The least and the greatest integers of a dtype, and such as float32 or float64 cannot hold."""
    info = np.iinfo(as_dtype(dtype).numpy_dtype)
    numbers = (info.min, info.min + 1, -1, 0, 1, 3, 2**24 + 1, 2**31 - 1, 2**53 + 1, info.max - 1, info.max)
    return np.array([number for number in numbers if info.min <= number <= info.max], info.dtype)


def large(dtype: str, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Random integers of both signs that float32, or float64, cannot hold, though eight of them add up; for dtypes that
    are none, ordinary numbers.
    """
    if not as_dtype(dtype).is_integer:
        return uniform(dtype, rng, shape)
    info = np.iinfo(as_dtype(dtype).numpy_dtype)
    values = rng.integers(info.max // 16, info.max // 8, shape, info.dtype) | info.dtype.type(1)
    if as_dtype(dtype).is_unsigned:
        return np.asarray(values)
    return np.asarray(np.where(rng.integers(0, 2, shape) == 1, values, -values)).astype(info.dtype)


def with_negative_zero(special: tuple[float, ...]) -> tuple[float, ...]:
    """Special values with -0.0 among them, where they have a zero."""
    return (*special, -0.0) if 0.0 in special else special


def unary_samples(values: Values, special: tuple[float, ...]) -> Callable[[str, Rng], Iterator[Sample]]:
    """Samples of an elementwise op of one input: ordinary ones, at which it is smooth, and special ones for floats."""

    def samples(dtype: str, rng: Rng) -> Iterator[Sample]:
        for shape in SHAPES:
            yield Sample(f"shape {shape}", (values(dtype, rng, shape),))
        # A kernel that has nothing to do may not hand its input back.
        yield Sample("ones", (constant(dtype, [1, 1, 1]),), smooth=False)
        if is_float(dtype):
            yield Sample(f"special values {special}", (constant(dtype, with_negative_zero(special)),), smooth=False)
        if as_dtype(dtype).is_integer:
            yield Sample("the limits", (limits(dtype),))

    return samples


def unary_sized(values: Values) -> Sized:
    """Samples of a size of an elementwise op of one input."""

    def sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
        yield Sample(f"shape {(size,)}", (values(dtype, rng, (size,)),))
        yield Sample(f"shape {(2, size)}", (values(dtype, rng, (2, size)),))

    return sized


def binary_samples(
    x: Values, y: Values, special: tuple[float, ...], *, any_integers: bool = True
) -> Callable[[str, Rng], Iterator[Sample]]:
    """Samples of an elementwise op of two inputs: ordinary ones, and for floats every pair of the special ones; for an
    op that takes any integers, every pair of the least and greatest.
    """

    def samples(dtype: str, rng: Rng) -> Iterator[Sample]:
        for first, second in SHAPE_PAIRS:
            yield Sample(f"shapes {first} and {second}", (x(dtype, rng, first), y(dtype, rng, second)))
        # A kernel that has nothing to do may not hand its input back.
        yield Sample("any and ones", (x(dtype, rng, (2, 3)), constant(dtype, np.ones((2, 3)))), smooth=False)
        if y is uniform:
            yield Sample("any and zeros", (x(dtype, rng, (2, 3)), constant(dtype, np.zeros((2, 3)))), smooth=False)
        if is_float(dtype):
            row = constant(dtype, with_negative_zero(special))
            yield Sample(f"special values {special}", (row.reshape(-1, 1), row), smooth=False)
        if as_dtype(dtype).is_integer and any_integers:
            yield Sample("the limits", (limits(dtype).reshape(-1, 1), limits(dtype)))

    return samples


def binary_sized(x: Values, y: Values) -> Sized:
    """Samples of a size of an elementwise op of two inputs, also of such as broadcast."""

    def sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
        for first, second in (
            ((size,), (size,)),
            ((size,), (1,)),
            ((), (size,)),
            ((2, size), (size,)),
            ((size, 1), (2,)),
        ):
            yield Sample(f"shapes {first} and {second}", (x(dtype, rng, first), y(dtype, rng, second)))

    return sized


def of_size(values: Values, *forms: tuple[tuple[int | None, ...], dict[str, Any]]) -> Sized:
    """Samples of a size of an op of one input: its shape, with None if the size comes, and keywords."""

    def sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
        for form, kwargs in forms:
            shape = tuple(size if axis is None else axis for axis in form)
            yield Sample(f"shape {shape}, {kwargs}", (values(dtype, rng, shape),), kwargs)

    return sized


def invalid(args: tuple[Any, ...], text: str, tested: str = "float32", /, **kwargs: Any) -> ErrorSample:
    """A call that must raise InvalidArgumentError with a text, in the tests of a dtype."""
    return ErrorSample(args, kwargs, InvalidArgumentError, text, tested)


def rejected(
    op: str, dtype: str, allowed: str, args: tuple[Any, ...], tested: str = "float32", **kwargs: Any
) -> ErrorSample:
    """The error of an op that is not defined for the dtype of its arguments; it names the dtypes that are allowed."""
    text = f"{op}: dtype {dtype} is not supported; use one of {allowed}. Cast with tf.cast."
    return invalid(args, text, tested, **kwargs)


def pair_errors(op: str, dtype: str = "float32", names: tuple[str, str] = ("x", "y")) -> tuple[ErrorSample, ...]:
    """The errors of two inputs that do not fit each other."""
    x, y = names
    two, three = np.ones(2, as_dtype(dtype).numpy_dtype), np.ones(3, as_dtype(dtype).numpy_dtype)
    return (
        invalid(
            (two, three),
            f"{op}: Incompatible shapes: [2] vs. [3]: sizes 2 and 3 differ and neither is 1. Reshape, tile or "
            "slice one of them.",
            dtype,
        ),
        invalid(
            (two, np.ones(1, np.complex64)),
            f"{op}: {x} has dtype {dtype} and {y} has dtype complex64 (shapes (2,) and (1,)), but they must be of one "
            f"dtype; cast one of them, such as tf.cast({y}, tf.{dtype}).",
            dtype,
        ),
    )


def unary(
    name: str,
    reference: Callable[..., Any],
    values: Values = uniform,
    special: tuple[float, ...] = (np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0),
    allowed: str = FLOATING,
    **facts: Any,
) -> OpInfo:
    """The facts about an elementwise op of one input; ``allowed`` are its dtypes, as an error names them."""
    errors = (rejected(name, "bool", allowed, (np.array([True]),)),)
    return OpInfo(
        name=name,
        samples=unary_samples(values, special),
        reference=reference,
        errors=errors,
        sized=unary_sized(values),
        elementwise=True,
        **{"signed_zeros": True, **facts},
    )


def binary(
    name: str,
    reference: Callable[..., Any],
    x: Values = uniform,
    y: Values = uniform,
    special: tuple[float, ...] = (np.nan, np.inf, -np.inf, 0.0, 1.0, -2.0),
    allowed: str = ORDERED,
    errors: tuple[ErrorSample, ...] = (),
    names: tuple[str, str] = ("x", "y"),
    **facts: Any,
) -> OpInfo:
    """The facts about an elementwise op of two inputs; ``allowed`` are its dtypes, as an error names them."""
    wrong = rejected(name, "bool", allowed, (np.array([True]), np.array([True])))
    return OpInfo(
        name=name,
        samples=binary_samples(x, y, special),
        reference=reference,
        errors=(*pair_errors(name, names=names), wrong, *errors),
        sized=binary_sized(x, y),
        elementwise=True,
        **{"signed_zeros": True, **facts},
    )
