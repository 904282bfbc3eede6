"""Recurrent kernels: against the reference kernels in float64, at the sizes where their code branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.nn.lstm import lstm
from agog_core.plugin import threads
from agog_cpu_llvm import registers
from agog_cpu_llvm.kernels import recurrent
from agog_cpu_llvm.kernels.recurrent import make
from agog_kernels_xp.nn.gru import gru as gru_kernel
from agog_kernels_xp.nn.gru import gru_grad as gru_grad_kernel
from agog_kernels_xp.nn.lstm import lstm as lstm_kernel
from agog_kernels_xp.nn.lstm import lstm_grad as lstm_grad_kernel

SOURCES = ("x", "kernel", "recurrent_kernel", "bias", "initial_hidden", "initial_cell")
USUAL = {"activation": "tanh", "recurrent_activation": "sigmoid"}
KERNELS = {"lstm": lstm_kernel, "lstm_grad": lstm_grad_kernel, "gru": gru_kernel, "gru_grad": gru_grad_kernel}
OPS = {"lstm": (4, 2), "gru": (3, 1), "gru, reset after": (3, 1)}
"""Ops by their gates and states."""

# (times, batch, features, units), activation functions, whether there is a mask.
CASES = (
    ((1, 1, 1, 1), USUAL, False),
    ((3, 5, 7, 9), USUAL, True),
    ((2, 3, 130, 17), USUAL, False),  # more features than a panel has rows at once
    ((3, 2, 2, 140), USUAL, True),  # more units than that
    ((2, 101, 3, 16), USUAL, True),  # more examples than a turn takes
    ((2, 131, 2, 5), USUAL, False),  # more examples than a block of sums has
    ((67, 1, 2, 3), USUAL, True),  # more times than a block of products or sums has
    ((4, 6, 3, 20), {"activation": "relu", "recurrent_activation": "hard_sigmoid"}, True),
    ((4, 6, 3, 20), {"activation": "linear", "recurrent_activation": "tanh"}, False),
    ((4, 6, 3, 20), {"activation": "sigmoid", "recurrent_activation": "relu"}, False),
    ((4, 6, 3, 20), {"activation": "hard_sigmoid", "recurrent_activation": "linear"}, True),
)


@pytest.fixture(autouse=True)
def small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recurrent, "LEAST_TIMES", 0)


def arrays_of(op: str, sizes: tuple[int, int, int, int], has_mask: bool = False, dtype: str = "float32") -> list[Any]:
    """What the op takes."""
    rng = np.random.default_rng(sum(sizes))
    gates, states = OPS[op]
    times, batch, features, units = sizes
    bias = (2, 3 * units) if "after" in op else (gates * units,)
    kernels = (features, gates * units), (units, gates * units), bias
    shapes = [(times, batch, features), *kernels, *[(batch, units)] * states]
    arrays: list[Any] = [rng.uniform(-0.6, 0.6, shape).astype(dtype) for shape in shapes]
    return [*arrays, rng.random((times, batch)) < 0.7 if has_mask else np.zeros((0, 0), bool)]


def gradients_of(op: str, sizes: tuple[int, int, int, int], dtype: str = "float32") -> list[Any]:
    """Gradients of the op's outputs."""
    rng, (times, batch, _, units) = np.random.default_rng(1), sizes
    shapes = [(times, batch, units), *[(batch, units)] * (OPS[op][1] - 1)]
    return [rng.uniform(-1, 1, shape).astype(dtype) for shape in shapes]


def of_name(op: str, names: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """The op, its gradient and the attributes of a name in `OPS`."""
    if op.startswith("gru"):
        return "gru", "gru_grad", {**names, "reset_after": "after" in op}
    return op, f"{op}_grad", names


def results(
    op: str, arrays: list[Any], gradients: list[Any], dtype: str = "float32", lay: Any = np.asarray, **names: Any
) -> list[Any]:
    """The outputs of the compiled kernel, and the gradients by all sources, from the reserve as it is laid."""
    forward, backward, names = of_name(op, names)
    *outputs, reserve = make(forward, dtype, "cpu:0")(*arrays, **names)
    sources = SOURCES[: 4 + OPS[op][1]]
    given = (*gradients, *arrays, outputs[0], lay(reserve))
    return [*outputs, *make(backward, dtype, "cpu:0")(*given, **names, sources=sources)]


def expected(op: str, arrays: list[Any], gradients: list[Any], **names: Any) -> list[Any]:
    """What the reference kernels compute in float64; those are compared with complex steps where they are tested."""
    wide = [array.astype(np.float64) if array.dtype != bool else array for array in arrays]
    forward, backward, names = of_name(op, names)
    *outputs, reserve = KERNELS[forward](np, *wide, **names)
    given = *[each.astype(np.float64) for each in gradients], *wide, outputs[0], reserve
    found = KERNELS[backward](np, *given, **names, sources=SOURCES[: 4 + OPS[op][1]])
    return [*outputs, *found]


@pytest.fixture(params=[64, 32, 16], ids=["AVX-512", "AVX2", "SSE"])
def narrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers of so many bytes."""
    if request.param > registers.register_bytes():
        pytest.skip("this processor has none")
    monkeypatch.setattr(registers, "register_bytes", lambda: request.param)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 3e-6), ("float64", 1e-14)])
@pytest.mark.parametrize("op", OPS)
def test_recurrent_reference(op: str, dtype: str, tolerance: float) -> None:
    for sizes, names, has_mask in CASES:
        if np.prod(sizes) > 2000 and registers.register_bytes() < 64:
            continue  # what depends on registers is the same as in smaller ones
        arrays, gradients = arrays_of(op, sizes, has_mask, dtype), gradients_of(op, sizes, dtype)
        for got, wanted in zip(
            results(op, arrays, gradients, dtype, **names), expected(op, arrays, gradients, **names), strict=True
        ):
            assert got.shape == wanted.shape
            assert got.dtype == dtype
            np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max()))


@pytest.fixture
def each_count() -> Iterator[None]:
    """Restores the number of threads."""
    yield
    threads.set_count(0)


@pytest.mark.usefixtures("each_count")
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("sizes", [(5, 64, 9, 32), (3, 7, 5, 20), (40, 1, 3, 16), (2, 300, 2, 33)])
def test_recurrent_bits_of_threads(op: str, sizes: tuple[int, int, int, int]) -> None:
    arrays, gradients = arrays_of(op, sizes), gradients_of(op, sizes)
    threads.set_count(1)
    alone = results(op, arrays, gradients, **USUAL)
    for count in (2, 3, 8):
        threads.set_count(count)
        for one, other in zip(alone, results(op, arrays, gradients, **USUAL), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("op", OPS)
def test_recurrent_layouts(op: str) -> None:
    sizes = 3, 5, 4, 18
    arrays, gradients = arrays_of(op, sizes, True), gradients_of(op, sizes)
    wanted = results(op, arrays, gradients, **USUAL)

    def unaligned(array: Any) -> Any:
        memory = np.zeros(array.nbytes + 3, np.uint8)[3:].view(array.dtype).reshape(array.shape)
        memory[...] = array
        return memory

    def swapped(array: Any) -> Any:
        return np.ascontiguousarray(array.swapaxes(0, array.ndim - 2)).swapaxes(0, array.ndim - 2)

    def backwards(array: Any) -> Any:
        return np.ascontiguousarray(array[::-1])[::-1]

    def spaced(array: Any) -> Any:
        return np.repeat(array, 2, -1)[..., ::2]

    for lay in (unaligned, swapped, backwards, spaced):
        laid = [lay(array) if array.ndim > 1 else array for array in arrays]
        for got, one in zip(results(op, laid, list(map(lay, gradients)), lay=lay, **USUAL), wanted, strict=True):
            np.testing.assert_array_equal(got, one)


@pytest.mark.parametrize("op", OPS)
def test_recurrent_inputs_stay(op: str) -> None:
    sizes = 3, 5, 4, 16
    arrays, gradients = arrays_of(op, sizes, True), gradients_of(op, sizes)
    copies = [array.copy() for array in (*arrays, *gradients)]
    results(op, arrays, gradients, **USUAL)
    for array, copy in zip((*arrays, *gradients), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("op", OPS)
def test_recurrent_special_numbers(op: str, value: float) -> None:
    sizes = 4, 3, 5, 17
    arrays = arrays_of(op, sizes, True)
    arrays[0][1, 2, 3] = value
    arrays[-1][1, 2] = True
    forward, _, names = of_name(op, USUAL)
    hiddens, *_ = make(forward, "float32", "cpu:0")(*arrays, **names)
    with np.errstate(all="ignore"):
        wanted, *_ = expected(op, arrays, gradients_of(op, sizes), **USUAL)
    np.testing.assert_array_equal(np.isnan(hiddens), np.isnan(wanted))
    np.testing.assert_allclose(hiddens, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("sizes", [(0, 2, 3, 4), (2, 0, 3, 4), (2, 3, 0, 4)])
@pytest.mark.parametrize("op", OPS)
def test_recurrent_empty(op: str, sizes: tuple[int, int, int, int]) -> None:
    arrays, gradients = arrays_of(op, sizes), gradients_of(op, sizes)
    with np.errstate(all="ignore"):
        wanted = expected(op, arrays, gradients, **USUAL)
    for got, one in zip(results(op, arrays, gradients, **USUAL), wanted, strict=True):
        np.testing.assert_allclose(got, one, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 2e-3), ("bfloat16", 2e-2)])
@pytest.mark.parametrize("op", OPS)
def test_recurrent_half_precision(op: str, dtype: str, tolerance: float) -> None:
    sizes = 3, 5, 4, 18
    kind = ag.as_dtype(dtype).numpy_dtype
    arrays = [array.astype(kind) if array.dtype != bool else array for array in arrays_of(op, sizes, True)]
    gradients = [array.astype(kind) for array in gradients_of(op, sizes)]
    wanted = expected(op, arrays, gradients, **USUAL)
    for got, one in zip(results(op, arrays, gradients, dtype, **USUAL), wanted, strict=True):
        assert got.dtype == kind
        np.testing.assert_allclose(got.astype(np.float64), one, rtol=tolerance, atol=tolerance)


def test_recurrent_rounding() -> None:
    """Sums of many steps are sums of sums: errors of weights' gradients do not grow with the examples."""
    sizes = 64, 64, 8, 16
    arrays, gradients = arrays_of("lstm", sizes), gradients_of("lstm", sizes)
    *_, to_kernel, to_recurrent, to_bias, _, _ = results("lstm", arrays, gradients, **USUAL)
    wide = [array.astype(np.float64) if array.dtype == np.float32 else array for array in (*arrays, *gradients)]
    *_, kernel, recurrent, bias, _, _ = results("lstm", wide[: len(arrays)], wide[len(arrays) :], "float64", **USUAL)
    for got, wanted in ((to_kernel, kernel), (to_recurrent, recurrent), (to_bias, bias)):
        assert np.abs(got - wanted).max() < 6e-7 * np.abs(wanted).max()


def test_recurrent_second_derivative() -> None:
    arrays = arrays_of("lstm", (3, 4, 2, 16), dtype="float64")
    x, *rest = [ag.constant(array) for array in arrays[:-1]]
    with ag.GradientTape() as outer:
        outer.watch(x)
        with ag.GradientTape() as inner:
            inner.watch(x)
            hidden, _, _ = lstm(x, *rest)
            loss = ag.reduce_sum(hidden * hidden)
        first = inner.gradient(loss, x)
        total = ag.reduce_sum(first * first)
    got = outer.gradient(total, x).numpy()

    def squares(step: float) -> float:
        with ag.GradientTape() as tape:
            moved = x + ag.constant(step * direction)
            tape.watch(moved)
            hidden, _, _ = lstm(moved, *rest)
            loss = ag.reduce_sum(hidden * hidden)
        return float(ag.reduce_sum(tape.gradient(loss, moved) ** 2.0))

    direction = np.random.default_rng(0).standard_normal(arrays[0].shape)
    slope = (squares(1e-5) - squares(-1e-5)) / 2e-5
    np.testing.assert_allclose((got * direction).sum(), slope, rtol=1e-7)


@pytest.mark.parametrize("op", OPS)
def test_few_times_of_few_products_are_the_references(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    forward, _, names = of_name(op, dict(USUAL))
    kernel = make(forward, "float32", "cpu:0")
    assert kernel(*arrays_of(op, (4, 2, 3, 3)), **names) is NotImplemented
    assert kernel(*arrays_of(op, (5, 2, 3, 3)), **names) is not NotImplemented
    assert kernel(*arrays_of(op, (4, 16, 8, 8)), **names) is not NotImplemented


def test_a_small_layer_and_its_gradient_have_the_references_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    arrays = [ag.constant(array) for array in arrays_of("lstm", (2, 1, 3, 3))[:6]]

    def results() -> list[Any]:
        with ag.GradientTape() as tape:
            tape.watch(arrays)
            outputs = lstm(*arrays)
        return [*outputs, *tape.gradient(list(outputs), arrays)]

    got = results()
    before = ag.prefer("cpu-numpy")
    try:
        wanted = results()
    finally:
        ag.prefer(*before)
    for mine, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(mine.numpy(), other.numpy())
