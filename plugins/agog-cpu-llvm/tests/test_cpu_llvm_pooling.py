"""Pooling: compiled pools against loops over windows in float64, and by the kit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import Tensor
from agog_core.ops.conv import pooling_ops
from agog_core.plugin import threads
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import pooling
from agog_testing.conformance import collect

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

OPS = ("avg_pool", "avg_pool_grad", "max_pool", "max_pool_grad", "max_pool_with_argmax")
TOLERANCES = {"float32": 1e-6, "float64": 1e-14}
# Shape, window, strides, paddings, dilations.
FORMS: tuple[Any, ...] = (
    ((2, 5, 3), (2,), (2,), ((0, 0),), (1,)),
    ((1, 9, 17), (3,), (5,), ((2, 3),), (1,)),
    ((1, 1, 1, 33), (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((3, 6, 5, 100), (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1)),
    ((2, 6, 5, 64), (3, 2), (1, 1), ((1, 1), (0, 1)), (2, 1)),
    ((2, 7, 7, 5), (2, 2), (3, 3), ((0, 0), (0, 0)), (1, 1)),
    ((0, 7, 7, 5), (2, 2), (3, 3), ((0, 0), (0, 0)), (1, 1)),
    ((2, 2, 2, 4), (5, 5), (1, 1), ((2, 2), (2, 2)), (1, 1)),
    ((2, 4, 5, 6, 20), (2, 2, 2), (1, 2, 1), ((1, 0), (0, 1), (0, 0)), (1, 1, 2)),
    ((1, 4, 5, 6, 20), (2, 3, 2), (2, 3, 2), ((0, 0), (0, 1), (0, 0)), (1, 1, 1)),
)
NAMES = [f"{form[0]} by {form[1]}" for form in FORMS]
SPECIAL = (np.nan, -np.inf, np.inf)


@pytest.fixture(autouse=True)
def kept_elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder: Path = tmp_path_factory.getbasetemp() / "llvm"
    monkeypatch.setenv("AGOG_CACHE_DIR", str(folder))


@pytest.fixture(autouse=True)
def small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "LEAST", 0)


def windows(form: Any) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
    """Each place of the output, and those of its window; None stands for one in the padding."""
    shape, window, strides, paddings, dilations = form
    axes = list(zip(shape[1:-1], window, strides, paddings, dilations, strict=True))
    out = [(size + sum(pad) - (n - 1) * d - 1) // step + 1 for size, n, step, pad, d in axes]
    for place in np.ndindex(shape[0], *out):
        found: Any = []
        for offset in np.ndindex(*window):
            at = [p * axis[2] - axis[3][0] + o * axis[4] for p, o, axis in zip(place[1:], offset, axes, strict=True)]
            is_inside = all(0 <= n < axis[0] for n, axis in zip(at, axes, strict=True))
            found.append((place[0], *at) if is_inside else None)
        yield place, found


def out_shape(form: Any) -> tuple[int, ...]:
    return (*np.max([place for place, _ in windows(form)] or [(-1, -1, -1)], axis=0) + 1, form[0][-1])


def values(form: Any, kind: str, dtype: str, shape: tuple[int, ...] | None = None) -> Any:
    random = np.random.default_rng(len(kind))
    x = random.standard_normal(shape or form[0])
    if kind == "ties":
        x = np.round(x)
    if kind == "special":
        x[random.random(x.shape) < 0.1] = np.nan
        x[random.random(x.shape) < 0.3] = -np.inf
        x[random.random(x.shape) < 0.1] = np.inf
    return np.full_like(x, -np.inf).astype(dtype) if kind == "lowest" else x.astype(dtype)


def attributes(form: Any) -> dict[str, Any]:
    return dict(zip(("window", "strides", "paddings", "dilations"), form[1:], strict=True))


def maxima(x: Any, form: Any) -> Any:
    out = np.full(out_shape(form), -np.inf)
    for place, window in windows(form):
        inside = [x[each].astype(float) for each in window if each is not None]
        out[place] = np.max(inside, axis=0) if inside else -np.inf
    return out


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("kind", ["usual", "special"])
@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_maxima(form: Any, kind: str, dtype: str) -> None:
    x = values(form, kind, dtype)
    if form[0][0]:
        result = pooling.make("max_pool", dtype, "cpu:0")(x, **attributes(form))
        np.testing.assert_array_equal(result, maxima(x, form).astype(dtype))


@pytest.mark.parametrize("integers", ["int32", "int64"])
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("kind", ["usual", "ties", "special", "lowest"])
@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_positions_are_those_of_the_first_maximum(form: Any, kind: str, dtype: str, integers: str) -> None:
    x = values(form, kind, dtype)
    if not form[0][0]:
        return
    top = maxima(x, form).astype(dtype)
    expected = np.zeros(top.shape, integers)
    for place, window in windows(form):
        for channel in range(form[0][-1]):
            for at in window:
                if at is not None and x[(*at, channel)] == top[(*place, channel)]:
                    expected[(*place, channel)] = np.ravel_multi_index((*at, channel), form[0])
                    break
    result, positions = pooling.make("max_pool_with_argmax", dtype, "cpu:0")(x, **attributes(form), dtype=integers)
    np.testing.assert_array_equal(result, top)
    np.testing.assert_array_equal(positions, expected)  # 0 where the maximum is NaN
    assert positions.dtype == integers


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("kind", ["usual", "ties", "special", "lowest"])
@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_gradients_go_to_the_first_maximum(form: Any, kind: str, dtype: str) -> None:
    x = values(form, kind, dtype)
    top = maxima(x, form).astype(dtype)
    g = values(form, "usual", dtype, top.shape)
    expected = np.zeros(form[0])
    for place, window in windows(form):
        for channel in range(form[0][-1]):
            for at in window:  # padding is minus infinity
                if (-np.inf if at is None else x[(*at, channel)]) == top[(*place, channel)]:
                    if at is not None:
                        expected[(*at, channel)] += g[(*place, channel)]
                    break
    result = pooling.make("max_pool_grad", dtype, "cpu:0")(g, x, top, **attributes(form))
    np.testing.assert_allclose(result, expected, rtol=4 * TOLERANCES[dtype], atol=TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_means_and_their_gradient(form: Any, dtype: str) -> None:
    if not form[0][0]:
        return
    x = values(form, "usual", dtype)
    means, gradient = np.zeros(out_shape(form)), np.zeros(form[0])
    g = values(form, "usual", dtype, means.shape)
    for place, window in windows(form):
        inside = [each for each in window if each is not None]
        for at in inside:
            means[place] += x[at].astype(float) / len(inside)
            gradient[at] += g[place].astype(float) / len(inside)
    tolerances = {"rtol": 4 * TOLERANCES[dtype], "atol": TOLERANCES[dtype]}
    np.testing.assert_allclose(pooling.make("avg_pool", dtype, "cpu:0")(x, **attributes(form)), means, **tolerances)
    result = pooling.make("avg_pool_grad", dtype, "cpu:0")(g, input_shape=form[0], **attributes(form))
    np.testing.assert_allclose(result, gradient, **tolerances)


def test_arrays_that_are_not_aligned() -> None:
    form = FORMS[3]
    memory = np.zeros(4 * np.prod(form[0]) + 1, np.uint8)
    x = memory[1:].view(np.float32).reshape(form[0])
    x[...] = values(form, "usual", "float32")
    kernel = pooling.make("max_pool", "float32", "cpu:0")
    np.testing.assert_array_equal(kernel(x, **attributes(form)), kernel(x.copy(), **attributes(form)))


def test_what_it_declines(monkeypatch: pytest.MonkeyPatch) -> None:
    form = attributes(((2, 6, 6, 8), (3, 3), (1, 1), ((0, 0), (0, 0)), (1, 1)))
    x = np.ones((2, 6, 6, 8), np.float16)
    maximum, gradient = pooling.make("max_pool", "float16", "cpu:0"), pooling.make("max_pool_grad", "float16", "cpu:0")
    assert maximum(x[..., :2].copy(), **form) is NotImplemented  # few channels
    assert maximum(x[:, ::-1], **form) is NotImplemented
    y = maximum(x, **form)
    assert gradient(y, x, y, **form) is NotImplemented  # float16 would round each sum of windows that overlap
    monkeypatch.setattr(pooling, "LEAST", x.size + 1)
    assert maximum(x, **form) is NotImplemented  # few numbers
    means = pooling.make("avg_pool_grad", "float32", "cpu:0")
    assert means(y, input_shape=x.shape, **form) is NotImplemented


def test_bits_are_the_same_at_any_number_of_threads() -> None:
    form = ((5, 9, 9, 24), (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1))
    x = values(form, "ties", "float32")

    def results() -> list[Any]:
        y = pooling.make("max_pool", "float32", "cpu:0")(x, **attributes(form))
        gradient = pooling.make("max_pool_grad", "float32", "cpu:0")(y, x, y, **attributes(form))
        means = pooling.make("avg_pool", "float32", "cpu:0")(x, **attributes(form))
        with_places = pooling.make("max_pool_with_argmax", "float32", "cpu:0")
        return [y, gradient, means, *with_places(x, **attributes(form), dtype="int64")]

    try:
        threads.set_count(1)
        alone = results()
        threads.set_count(3)
        for mine, other in zip(alone, results(), strict=True):
            np.testing.assert_array_equal(mine, other)
    finally:
        threads.set_count(0)


def test_a_traced_pool_and_its_gradients_have_the_bits_of_an_eager_one() -> None:
    x = ag.constant(np.random.default_rng(0).standard_normal((2, 8, 8, 16)).astype(np.float32))

    def step(x: Tensor) -> tuple[Tensor, ...]:
        with ag.GradientTape() as outer:
            outer.watch(x)
            with ag.GradientTape() as tape:
                tape.watch(x)
                y = pooling_ops.general_max_pool(x, (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1))
            first = tape.gradient(y, x, y * y)
        return y, first, outer.gradient(first, x)

    for eager, traced in zip(step(x), ag.function(step)(x), strict=True):
        assert eager.numpy().any()
        np.testing.assert_array_equal(eager.numpy(), traced.numpy())


@pytest.mark.parametrize("op", OPS)
def test_the_kit(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "LEAST_CHANNELS", 0)  # its samples have few channels
    ended = [(case.id, case.run()) for case in collect("cpu-llvm", [op], ["float32", "float16"])]
    failed = [(name, outcome) for name, outcome in ended if outcome.kind not in ("passed", "skipped")]
    assert len(ended) > 20
    assert not failed
