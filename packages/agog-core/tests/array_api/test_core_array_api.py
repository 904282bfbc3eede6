"""The namespace of the array API standard against NumPy's own."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_core.array_api as xp
from agog_testing import says

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64", "complex64", "complex128")


def numbers(*shape: int, seed: int = 3) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


def close(result: Any, expected: Any) -> None:
    got = result.numpy() if isinstance(result, ag.Tensor) else result
    assert np.asarray(got).shape == np.shape(expected)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kinds", [("bool",), INTEGERS, FLOATS], ids=["bool", "integers", "floats"])
def test_promotion_is_that_of_numpy(kinds: tuple[str, ...]) -> None:
    for first, second in itertools.product(kinds, repeat=2):
        if "uint64" in (first, second) and first.startswith("i") != second.startswith("i"):
            with pytest.raises(TypeError, match="no common dtype"):
                xp.result_type(ag.as_dtype(first), ag.as_dtype(second))
        else:
            found = xp.result_type(ag.as_dtype(first), xp.zeros((2,), dtype=second))
            assert found == np.result_type(first, second).name


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [("float16", "bfloat16", "float32"), ("bfloat16", "float32", "float32"), ("float16", "complex64", "complex64")],
)
def test_promotion_of_half_precision(first: str, second: str, together: str) -> None:
    assert xp.result_type(ag.as_dtype(first), ag.as_dtype(second)) == together


@pytest.mark.parametrize(
    ("kind", "scalar", "together"),
    [("int8", 1, "int8"), ("float32", 1, "float32"), ("float32", 1j, "complex64"), ("bool", True, "bool")],
)
def test_scalars_take_the_dtype_of_arrays(kind: str, scalar: Any, together: str) -> None:
    assert xp.result_type(ag.as_dtype(kind), scalar) == together
    assert xp.equal(xp.zeros((2,), dtype=kind), scalar).dtype == "bool"


def test_what_has_no_common_dtype() -> None:
    with says(TypeError, "The array API standard gives int32 and float32 no common dtype; convert one with astype."):
        xp.add(xp.asarray([1]), xp.asarray([1.0]))
    with says(
        TypeError,
        "The array API standard gives int32 and a Python float no common dtype; convert the array with astype.",
    ):
        xp.add(xp.asarray([1]), 1.5)


def test_functions_promote() -> None:
    result = xp.add(xp.asarray([1, 2], dtype=xp.int8), xp.asarray([[250]], dtype=xp.uint8))
    assert (result.dtype, result.numpy().tolist()) == ("int16", [[251, 252]])


def test_gradients_pass_promotion() -> None:
    x, y = xp.asarray([1.0, 2.0]), xp.asarray([3.0, 4.0], dtype=xp.float64)
    with ag.GradientTape() as tape:
        tape.watch([x, y])
        loss = xp.sum(xp.multiply(x, y))
    gradients = tape.gradient(loss, [x, y])
    assert [(g.dtype, g.numpy().tolist()) for g in gradients] == [("float32", [3.0, 4.0]), ("float64", [1.0, 2.0])]


UNARY = (
    *("abs", "ceil", "cos", "cosh", "exp", "expm1", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p"),
    *("log2", "negative", "positive", "reciprocal", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square"),
    *("tan", "tanh", "trunc", "atan", "asinh", "acos", "acosh", "asin", "atanh"),
)
BINARY = (
    *("add", "atan2", "copysign", "divide", "equal", "greater", "greater_equal", "hypot", "less", "less_equal"),
    *("logaddexp", "maximum", "minimum", "multiply", "nextafter", "not_equal", "pow", "remainder", "subtract"),
)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("name", UNARY)
def test_elementwise_functions_of_one_array(name: str) -> None:
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(np.array(SPECIAL))
    got = getattr(xp, name)(xp.asarray(SPECIAL, dtype=xp.float64)).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-14)
    if expected.dtype != bool:
        # The sign of a NaN means nothing.
        finite = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got[finite]), np.signbit(expected[finite]))


@pytest.mark.parametrize("name", BINARY)
def test_elementwise_functions_of_two_arrays(name: str) -> None:
    x, y = np.array(SPECIAL)[:, None], np.array(SPECIAL)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x, y)
    got = getattr(xp, name)(xp.asarray(x), xp.asarray(y)).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_elementwise_functions_of_integers() -> None:
    x = np.array([-7, 0, 5], np.int32)
    for name in ("abs", "ceil", "floor", "round", "trunc", "bitwise_invert", "isnan", "isfinite", "square", "sign"):
        assert getattr(xp, name)(xp.asarray(x)).numpy().tolist() == getattr(np, name)(x).tolist()
    for name in ("floor_divide", "remainder", "bitwise_and", "bitwise_left_shift", "bitwise_right_shift"):
        assert getattr(xp, name)(xp.asarray(x), 3).numpy().tolist() == getattr(np, name)(x, 3).tolist()
    assert xp.bitwise_left_shift(xp.asarray(x), 40).numpy().tolist() == [0, 0, 0]


def test_floor_divide_of_infinities() -> None:
    result = xp.floor_divide(
        xp.asarray([np.inf, -np.inf, 1.0, -1.0, 7.0]), xp.asarray([2.0, 2.0, -np.inf, np.inf, 2.0])
    )
    assert result.numpy().tolist() == [np.inf, -np.inf, -0.0, -0.0, 3.0]


def test_expm1_of_infinite_complex_numbers() -> None:
    result = xp.expm1(xp.asarray([complex("inf+0j"), complex("-inf+infj"), 1e-9 + 1e-9j], dtype=xp.complex128))
    np.testing.assert_array_equal(result.numpy()[:2], [complex(np.inf, 0), -1])
    close(result[2], 1e-9 + 1e-9j)


def test_clip() -> None:
    x = numbers(4, 5)
    close(xp.clip(xp.asarray(x), -0.5, 0.25), np.clip(x, -0.5, 0.25))
    close(xp.clip(xp.asarray(x), xp.asarray(x[0]), None), np.maximum(x, x[0]))
    assert xp.clip(xp.asarray([1, 9], dtype=xp.int8), max=xp.asarray(4)).numpy().tolist() == [1, 4]


def test_creation() -> None:
    assert xp.asarray([True, 2, 3.5]).numpy().tolist() == [1.0, 2.0, 3.5]
    assert xp.asarray(1j).dtype == "complex64"
    assert xp.asarray([1.9], dtype=xp.int32).numpy().tolist() == [1]
    assert xp.arange(5, 0, -2).numpy().tolist() == [5, 3, 1]
    assert xp.arange(2**40, 2**40 + 2).dtype == "int64"
    close(xp.arange(0.1, 0.75, 0.2, dtype=xp.float64), np.arange(0.1, 0.75, 0.2))
    close(xp.linspace(0.1, 2, 5, dtype=xp.float64, endpoint=False), np.linspace(0.1, 2, 5, endpoint=False))
    close(xp.linspace(0, 1 + 2j, 3), [0, 0.5 + 1j, 1 + 2j])
    assert xp.linspace(0, 1, 0).shape == (0,)
    assert xp.full((2, 1), 7, dtype=xp.uint8).numpy().tolist() == [[7], [7]]
    for k in (-9, -1, 0, 2, 9):
        assert xp.eye(3, 4, k=k).numpy().tolist() == np.eye(3, 4, k=k).tolist()
        x = numbers(2, 3, 4)
        close(xp.tril(xp.asarray(x), k=k), np.tril(x, k))
        close(xp.triu(xp.asarray(x), k=k), np.triu(x, k))


def test_asarray_without_a_copy() -> None:
    x = xp.asarray([1.0])
    assert xp.asarray(x, copy=False) is x
    assert xp.asarray(x, copy=True) is not x
    with says(
        ValueError,
        f"asarray: a ndarray of dtype float64 needs a copy to become an array of dtype float64 on {x.device}; got "
        "copy=False.",
    ):
        xp.asarray(np.array([1.0]), copy=False)


def test_the_device_scope_around_stays() -> None:
    with ag.device(ag.constant(1.0).device):
        assert xp.asarray([1.0]).device == xp.zeros((1,)).device == ag.constant(1.0).device


def test_manipulation() -> None:
    x = numbers(2, 3, 4)
    a = xp.asarray(x)
    close(xp.concat([a, a], axis=None), np.concatenate([x, x], axis=None))
    close(xp.stack([a, a], axis=1), np.stack([x, x], axis=1))
    close(xp.unstack(a, axis=1)[2], x[:, 2])
    close(xp.expand_dims(a, (0, -1)), np.expand_dims(x, (0, -1)))
    close(xp.squeeze(xp.asarray(x[:1]), 0), x[0])
    close(xp.permute_dims(a, (-1, 0, 1)), np.transpose(x, (2, 0, 1)))
    close(xp.moveaxis(a, (0, 1), (-1, 0)), np.moveaxis(x, (0, 1), (-1, 0)))
    close(xp.flip(a, axis=(0, 2)), np.flip(x, (0, 2)))
    close(xp.roll(a, 5), np.roll(x, 5))
    close(xp.roll(a, (1, -2), axis=(0, 2)), np.roll(x, (1, -2), axis=(0, 2)))
    close(xp.tile(a, (2, 1)), np.tile(x, (2, 1)))
    close(xp.repeat(a, 2, axis=1), np.repeat(x, 2, axis=1))
    close(xp.repeat(a, xp.asarray([0, 2, 1]), axis=1), np.repeat(x, [0, 2, 1], axis=1))
    close(xp.take(a, xp.asarray([2, -1]), axis=1), np.take(x, [2, -1], axis=1))
    order = np.argsort(x, axis=1)
    close(xp.take_along_axis(a, xp.asarray(order - 3), axis=1), np.take_along_axis(x, order, axis=1))
    close(xp.broadcast_arrays(a, xp.asarray(x[0, 0]))[1], np.broadcast_to(x[0, 0], (2, 3, 4)))
    assert xp.broadcast_shapes((2, 1), (3,), ()) == (2, 3)


def test_manipulation_errors_are_those_of_the_standard() -> None:
    with pytest.raises(
        ValueError,
        match=r"^squeeze: Can not squeeze dim\[0\], expected a dimension of 1, got 2: the tensor has shape \(2,\)\.$",
    ):
        xp.squeeze(xp.zeros((2,)), 0)
    with pytest.raises(IndexError, match=r"^expand_dims: axis 3 is out of range"):
        xp.expand_dims(xp.zeros((2,)), 3)
    with pytest.raises(ValueError, match=r"^broadcast_shapes: Incompatible shapes: \[2\] vs. \[3\]"):
        xp.broadcast_shapes((2,), (3,))


def test_statistics() -> None:
    x = numbers(3, 4)
    a = xp.asarray(x)
    for name in ("max", "mean", "min", "prod", "sum", "std", "var"):
        for options in ({}, {"axis": 1}, {"axis": (0, 1), "keepdims": True}):
            close(getattr(xp, name)(a, **options), getattr(np, name)(x, **options))  # type: ignore[arg-type]  # by name
    close(xp.var(a, axis=0, correction=1.0), np.var(x, axis=0, ddof=1))
    close(xp.cumulative_sum(a, axis=1, include_initial=True), np.cumsum(np.insert(x, 0, 0, axis=1), axis=1))
    close(xp.cumulative_prod(a, axis=0), np.cumprod(x, axis=0))
    close(xp.diff(a, n=2, axis=0, prepend=a), np.diff(x, n=2, axis=0, prepend=x))
    assert xp.sum(xp.asarray([200, 100], dtype=xp.uint8)).dtype == "uint32"
    assert xp.all(xp.asarray([1, 2]))
    assert not xp.any(xp.asarray([0.0]))


def test_searching_and_sorting() -> None:
    x = np.round(numbers(4, 5), 1)
    a = xp.asarray(x)
    assert int(xp.argmax(a)) == np.argmax(x)
    close(xp.argmin(a, axis=1, keepdims=True), np.argmin(x, axis=1, keepdims=True))
    close(xp.sort(a, axis=0, descending=True), np.sort(x, axis=0)[::-1])
    close(xp.argsort(a, axis=1), np.argsort(x, axis=1, stable=True))
    close(xp.nonzero(a > 0)[1], np.nonzero(x > 0)[1])
    close(xp.where(a[0] > 0, a, 0.0), np.where(x[0] > 0, x, 0.0))
    close(xp.count_nonzero(a, axis=1), np.count_nonzero(x, axis=1))
    row, sorter = x[0], np.argsort(x[0])
    close(
        xp.searchsorted(xp.asarray(row), a, side="right", sorter=xp.asarray(sorter)),
        np.searchsorted(row, x, side="right", sorter=sorter),
    )
    assert xp.isin(xp.asarray([1, 2, 9]), xp.asarray([[2, 1, 4]])).numpy().tolist() == [True, True, False]
    assert xp.isin(xp.asarray([True]), xp.asarray([], dtype=xp.bool), invert=True).numpy().tolist() == [True]


def test_sets_of_complex_numbers() -> None:
    x = np.array([[1 + 1j, 2, 1 + 1j], [complex(np.nan, 0), 2, complex(np.nan, 0)]])
    found = xp.unique_all(xp.asarray(x))
    assert found.counts.numpy().tolist() == [2, 2, 1, 1]
    assert found.indices.numpy().tolist() == [0, 1, 3, 5]
    assert found.inverse_indices.numpy().tolist() == [[0, 1, 0], [2, 1, 3]]
    np.testing.assert_array_equal(found.values.numpy(), x.reshape(-1)[[0, 1, 3, 5]])


def test_linear_algebra() -> None:
    x = numbers(2, 3, 3) + 4 * np.eye(3)
    a, v = xp.asarray(x), xp.asarray(x[0, 0])
    spd = x @ x.swapaxes(1, 2)
    close(xp.matmul(a, v), np.matmul(x, x[0, 0]))
    close(xp.matmul(v, a), np.matmul(x[0, 0], x))
    close(xp.vecdot(a, a, axis=1), np.einsum("bij,bij->bj", x, x))
    close(xp.tensordot(a, a, axes=((1,), (2,))), np.tensordot(x, x, axes=((1,), (2,))))
    close(xp.linalg.cross(a, v), np.cross(x, x[0, 0]))
    close(xp.linalg.outer(v, v), np.outer(x[0, 0], x[0, 0]))
    close(xp.linalg.diagonal(a, offset=-1), np.diagonal(x, -1, 1, 2))
    close(xp.linalg.trace(a, offset=1), np.trace(x, 1, 1, 2))
    close(xp.linalg.solve(a, v), np.linalg.solve(x, np.stack([x[0, 0]] * 2)[..., None])[..., 0])
    close(xp.linalg.inv(a), np.linalg.inv(x))
    close(xp.linalg.det(a), np.linalg.det(x))
    close(xp.linalg.slogdet(a).logabsdet, np.linalg.slogdet(x)[1])
    close(xp.linalg.matrix_power(a, -3), np.linalg.matrix_power(x, -3))
    close(xp.linalg.cholesky(xp.asarray(spd), upper=True), np.linalg.cholesky(spd).swapaxes(1, 2))
    close(xp.linalg.eigvalsh(xp.asarray(spd)), np.linalg.eigvalsh(spd))
    u, s, vh = xp.linalg.svd(a[:, :2], full_matrices=False)
    close(xp.matmul(xp.multiply(u, xp.expand_dims(s, -2)), vh), x[:, :2])
    close(xp.linalg.pinv(a[:, :2]), np.linalg.pinv(x[:, :2]))
    assert xp.linalg.matrix_rank(xp.asarray(np.ones((2, 3, 3)))).numpy().tolist() == [1, 1]
    for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        close(xp.linalg.matrix_norm(a, ord=order, keepdims=True), np.linalg.matrix_norm(x, ord=order, keepdims=True))
    for order in (0, 1, 2, 3, -1.5, np.inf, -np.inf):
        close(xp.linalg.vector_norm(a, ord=order, axis=(0, 2)), np.linalg.vector_norm(x, ord=order, axis=(0, 2)))


def test_products_of_wrong_shapes() -> None:
    with says(ValueError, "matmul: both arrays must have at least one axis; got shapes () and (2, 2)."):
        xp.matmul(xp.asarray(1.0), xp.zeros((2, 2)))
    with says(ValueError, "vecdot: axis -1 has 2 elements in x1 and 1 in x2; they must agree."):
        xp.vecdot(xp.zeros((2,)), xp.zeros((1,)))
    with says(ValueError, "cross: both axes must have 3 elements; got 3 and 2 on axis -1."):
        xp.linalg.cross(xp.zeros((3,)), xp.zeros((2,)))
    with says(ValueError, "matrix_norm: ord is 3; use 'fro', 'nuc', 1, -1, 2, -2, inf or -inf."):
        xp.linalg.matrix_norm(xp.zeros((2, 2)), ord=3)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_fourier_transforms(norm: Any) -> None:
    x = numbers(3, 5) + 1j * numbers(3, 5, seed=4)
    a = xp.asarray(x)
    for name in ("fft", "ifft", "irfft", "hfft"):
        for options in ({}, {"n": 4, "axis": 0}, {"n": 7}):
            expected = getattr(np.fft, name)(x, norm=norm, **options)
            close(getattr(xp.fft, name)(a, norm=norm, **options), expected)
    for name in ("rfft", "ihfft"):
        close(getattr(xp.fft, name)(xp.real(a), n=4, norm=norm), getattr(np.fft, name)(x.real, n=4, norm=norm))
    for name in ("fftn", "ifftn", "irfftn"):
        close(getattr(xp.fft, name)(a, norm=norm), getattr(np.fft, name)(x, norm=norm))
    close(xp.fft.rfftn(xp.real(a), s=(4, 6), axes=(0, 1), norm=norm), np.fft.rfftn(x.real, (4, 6), (0, 1), norm))


def test_fourier_helpers() -> None:
    for n in (1, 6, 7):
        close(xp.fft.fftfreq(n, d=0.5, dtype=xp.float64), np.fft.fftfreq(n, 0.5))
        close(xp.fft.rfftfreq(n, d=0.5, dtype=xp.float64), np.fft.rfftfreq(n, 0.5))
        close(xp.fft.ifftshift(xp.fft.fftshift(xp.arange(n))), np.arange(n))
    with says(ValueError, "fft: norm is 'half'; use one of backward, ortho, forward."):
        xp.fft.fft(xp.zeros((2,)), norm="half")


def test_dtype_functions() -> None:
    for name in ("float16", "float32", "float64"):
        ours, theirs = xp.finfo(ag.as_dtype(name)), np.finfo(name)
        assert (ours.bits, ours.eps, ours.max, ours.min) == (theirs.bits, theirs.eps, theirs.max, theirs.min)
        assert ours.smallest_normal == theirs.smallest_normal
    assert xp.finfo(xp.complex64).dtype is xp.float32
    assert (xp.iinfo(xp.int16).min, xp.iinfo(xp.asarray(1)).bits) == (-(2**15), 32)
    assert xp.finfo(np.float32) == xp.finfo(np.dtype("float32")) == xp.finfo("float32")
    assert xp.isdtype(xp.uint8, ("bool", "integral"))
    assert not xp.isdtype(xp.float32, "integral")
    assert xp.can_cast(xp.int8, xp.int16)
    assert not xp.can_cast(xp.int16, xp.int8)
    assert xp.astype(xp.asarray([0.5, 0.0]), xp.bool).numpy().tolist() == [True, False]
    with says(TypeError, "astype: complex64 would lose its imaginary part as float32; take real(x) first."):
        xp.astype(xp.asarray(1j), xp.float32)


def test_namespace_of_a_tensor() -> None:
    x = ag.constant(1.0)
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2022.12") is xp
    with says(
        ValueError,
        "__array_namespace__: api_version is '1999.12'; the versions of the standard here are 2021.12, 2022.12, "
        "2023.12, 2024.12, 2025.12.",
    ):
        x.__array_namespace__(api_version="1999.12")


def test_inspection() -> None:
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["integral"] is xp.asarray(1).dtype
    assert list(info.dtypes(kind=("bool", "complex floating"))) == ["bool", "complex64", "complex128"]
    assert info.capabilities()["data-dependent shapes"]


def test_every_name_exists() -> None:
    assert [name for name in xp.__all__ if not hasattr(xp, name)] == []


PROGRAM = """
import numpy as np, agog_core as ag, agog_core.array_api as xp
x, y = xp.asarray([1, 2]), xp.asarray([1, 3], dtype=xp.int64)
assert (x == y) is False and x != y
xp.enable_operators()
print((x == y).numpy().tolist(), (x != 1).numpy().tolist(), (x + y).dtype.name, (2 - y).numpy().tolist(), x == None)
with ag.GradientTape() as tape:
    z = ag.constant(3.0)
    tape.watch(z)
    loss = z * xp.asarray(2.0, dtype=xp.float64)
print(tape.gradient(loss, z), {x: "key"}[x])
"""


def test_operators_of_the_standard_can_be_enabled() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "[True, False] [False, True] int64 [1, -1] False\ntf.Tensor(2.0, shape=(), dtype=float32) key\n"
    )
