"""Matmul: facts about the ops of agog_core.ops.linalg.matmul."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import NUMERIC, Rng, constant, invalid, is_float, large, rejected, uniform


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for a, b in (
        *(((1, 1), (1, 1)), ((2, 3), (3, 4)), ((5, 7), (7, 3)), ((1, 67), (67, 1)), ((2, 0), (0, 3)), ((0, 2), (2, 3))),
        *(
            ((4, 2, 3), (4, 3, 2)),
            ((4, 2, 3), (3, 2)),
            ((2, 3), (4, 3, 2)),
            ((2, 1, 2, 3), (4, 3, 1)),
            ((0, 2, 3), (3, 2)),
        ),
    ):
        x, y = uniform(dtype, rng, a), uniform(dtype, rng, b)
        yield Sample(f"shapes {a} and {b}", (x, y))
    for flags in ({"transpose_a": True}, {"transpose_b": True}, {"transpose_a": True, "transpose_b": True}):
        x = uniform(dtype, rng, (4, 3) if flags.get("transpose_a") else (3, 4))
        y = uniform(dtype, rng, (2, 4) if flags.get("transpose_b") else (4, 2))
        yield Sample(" and ".join(flags), (x, y), flags)
    for flags in ({"adjoint_a": True}, {"transpose_a": True, "adjoint_b": True}):
        x, y = uniform(dtype, rng, (4, 3)), uniform(dtype, rng, (2, 4) if "adjoint_b" in flags else (4, 2))
        yield Sample(" and ".join(flags), (x, y), flags)
    batch = uniform(dtype, rng, (2, 3, 4)), uniform(dtype, rng, (2, 3, 5))
    yield Sample("transposed batch", batch, {"transpose_a": True})
    if as_dtype(dtype).is_integer:
        yield Sample("large integers", (large(dtype, rng, (3, 4)), large(dtype, rng, (4, 2))))
    if is_float(dtype):
        special = constant(dtype, [[1.0, np.nan], [np.inf, 2.0]])
        yield Sample("NaN and infinity", (special, constant(dtype, [[1.0], [2.0]])), smooth=False)


def _sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for a, b in (((size, 3), (3, 2)), ((2, size), (size, 3)), ((2, 3), (3, size)), ((size, 2, 2), (2, 3))):
        yield Sample(f"shapes {a} and {b}", (uniform(dtype, rng, a, -1, 1), uniform(dtype, rng, b, -1, 1)))


def _timed(dtype: str, rng: Rng) -> Iterator[Sample]:
    for n in (3, 64, 512):
        yield Sample(f"square matrices of size {n}", (uniform(dtype, rng, (n, n)), uniform(dtype, rng, (n, n))))


def _matmul(
    a: Array,
    b: Array,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Array:
    a = np.swapaxes(a, -1, -2) if transpose_a or adjoint_a else a
    b = np.swapaxes(b, -1, -2) if transpose_b or adjoint_b else b
    a, b = np.conj(a) if adjoint_a else a, np.conj(b) if adjoint_b else b
    return np.asarray((a[..., :, :, None] * b[..., None, :, :]).sum(axis=-2))


_TWO = np.ones((2, 3), np.float32)

INFOS = (
    OpInfo(
        name="matmul",
        samples=_samples,
        sized=_sized,
        reference=_matmul,
        timed=_timed,
        errors=(
            invalid(
                (_TWO, _TWO), "matmul: Matrix size-incompatible: a is (2, 3) and b is (2, 3): inner sizes 3 and 2."
            ),
            invalid(
                (_TWO, np.ones((3, 4), np.float32)),
                "matmul: Matrix size-incompatible: a is (2, 3) and b is (3, 4) transposed: inner sizes 3 and 4.",
                transpose_b=True,
            ),
            invalid(
                (_TWO, np.ones(3, np.float32)),
                "matmul: both inputs must be matrices or batches of them; got shapes (2, 3) and (3,).",
            ),
            invalid(
                (_TWO, np.ones((3, 2))),
                "matmul: a has dtype float32 and b has dtype float64 (shapes (2, 3) and (3, 2)), but they must be of "
                "one dtype; cast one of them, such as tf.cast(b, tf.float32).",
            ),
            rejected("matmul", "bool", NUMERIC, (np.ones((1, 1), np.bool_), np.ones((1, 1), np.bool_))),
        ),
        tolerances={
            "float16": (1e-2, 5e-2),
            "bfloat16": (5e-2, 2e-1),
            "float32": (1e-5, 2e-5),
            "float64": (1e-13, 1e-12),
            "complex64": (1e-5, 5e-5),
            "complex128": (1e-13, 1e-12),
        },
    ),
)
