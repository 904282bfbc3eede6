"""Forward convolutions against sums of products in float64, place by place of the window."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.conv.convolution_ops import general_convolution
from agog_core.ops.nn.fused_convolution import convolution_bias
from agog_core.plugin import threads
from agog_cpu_llvm import presence, registers
from agog_cpu_numpy import kernels as reference

SENTENCE = presence.unavailable()
if SENTENCE is not None:
    pytest.skip(str(SENTENCE), allow_module_level=True)

from agog_cpu_llvm.kernels import convolution, convolution_plan  # noqa: E402

ml_dtypes = pytest.importorskip("ml_dtypes")

# Input, filter, strides, paddings, dilations, groups.
FORMS = [
    ((2, 9, 3), (3, 3, 5), (1,), ((1, 1),), (1,), 1),
    ((1, 7, 8, 1), (5, 5, 1, 32), (1, 1), ((2, 2), (2, 2)), (1, 1), 1),
    ((3, 14, 14, 3), (7, 7, 3, 64), (2, 2), ((2, 3), (2, 3)), (1, 1), 1),
    ((2, 6, 5, 17), (3, 3, 17, 37), (1, 2), ((1, 1), (0, 2)), (1, 1), 1),
    ((2, 8, 9, 4), (3, 2, 4, 6), (2, 1), ((2, 0), (1, 3)), (2, 3), 1),
    ((2, 8, 9, 12), (3, 3, 4, 15), (1, 1), ((1, 1), (1, 1)), (1, 1), 3),
    ((1, 5, 9, 64), (3, 3, 32, 70), (1, 2), ((1, 1), (1, 1)), (2, 1), 2),
    ((2, 4, 5, 6, 3), (2, 3, 3, 3, 20), (1, 2, 1), ((1, 0), (1, 1), (2, 1)), (1, 1, 2), 1),
    ((5, 3, 3, 8), (1, 1, 8, 64), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((3, 11, 17, 6), (1, 1, 6, 130), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((2, 9, 9, 5), (1, 1, 5, 33), (2, 2), ((0, 0), (0, 0)), (1, 1), 1),
    ((7, 1, 1, 9), (3, 3, 9, 16), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((2, 2, 3, 4), (3, 3, 4, 8), (1, 1), ((5, 6), (4, 3)), (1, 1), 1),  # windows of nothing but padding
    ((1, 3, 40, 96), (3, 3, 96, 288), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),  # a filter in several parts
    ((1, 60, 61, 40), (3, 5, 40, 3), (1, 1), ((1, 1), (2, 2)), (1, 1), 1),  # an image in several bands
]
PAYS = convolution_plan._pays
TOLERANCES = {"float32": 3e-6, "float64": 1e-14, "bfloat16": 8e-3, "float16": 1e-3}
ACTIVATIONS = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


@pytest.fixture(autouse=True, scope="module")
def kept_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGOG_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(convolution_plan, "_pays", lambda form: True)
        patch.setattr(convolution_plan, "LEAST", 0)
        convolution_plan.plan.cache_clear()
        yield
    convolution_plan.plan.cache_clear()


def oracle(x: Any, w: Any, strides: Any, paddings: Any, dilations: Any, groups: int) -> Any:
    x, w = np.pad(x.astype(np.float64), ((0, 0), *paddings, (0, 0))), w.astype(np.float64)
    window, (inputs, outputs) = w.shape[:-2], w.shape[-2:]
    each = outputs // groups
    places = [
        (s - (k - 1) * d - 1) // t + 1 for s, k, t, d in zip(x.shape[1:-1], window, strides, dilations, strict=True)
    ]
    out = np.zeros((len(x), *places, outputs))
    for at in itertools.product(*map(range, window)):
        cut = [
            slice(a * d, a * d + (p - 1) * t + 1, t) for a, d, p, t in zip(at, dilations, places, strides, strict=True)
        ]
        part = x[(slice(None), *cut)]
        for g in range(groups):
            columns = slice(g * each, (g + 1) * each)
            out[..., columns] += part[..., g * inputs : (g + 1) * inputs] @ w[at][:, columns]
    return out


def given(form: Any, dtype: str, seed: int = 0) -> tuple[Any, Any, Any, dict[str, Any]]:
    random = np.random.default_rng(seed)
    input, filter, strides, paddings, dilations, groups = form
    x, w, b = (random.normal(size=shape).astype(dtype) for shape in (input, filter, filter[-1:]))
    return x, w, b, {"strides": strides, "paddings": paddings, "dilations": dilations, "groups": groups}


def assert_near(got: Any, expected: Any, dtype: str, scale: float) -> None:
    assert got.dtype == np.dtype(dtype)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype] * scale)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_convolution_is_the_sum_of_products(form: Any, dtype: str) -> None:
    x, w, b, attributes = given(form, dtype)
    expected = oracle(x, w, **attributes)
    scale = float(np.abs(expected).max())
    assert_near(convolution.make("convolution", dtype, "cpu:0")(x, w, **attributes), expected, dtype, scale)
    with_bias = convolution.make("convolution_bias", dtype, "cpu:0")
    for name, activation in ACTIVATIONS.items():
        got = with_bias(x, w, b, activation=name, **attributes)
        assert_near(got, activation(expected + b.astype(np.float64)), dtype, scale)


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_a_depthwise_convolution_has_a_bias_too(dtype: str) -> None:
    x, w, b, attributes = given(((2, 7, 8, 19), (3, 3, 1, 38), (1, 2), ((1, 1), (0, 2)), (1, 1), 19), dtype)
    kernel, expected = convolution.make("convolution_bias", dtype, "cpu:0"), oracle(x, w, **attributes)
    for name, activation in ACTIVATIONS.items():
        got = kernel(x, w, b, activation=name, **attributes)
        assert_near(got, activation(expected + b.astype(np.float64)), dtype, float(np.abs(expected).max()))
        out = np.full_like(got, np.nan)
        assert kernel(x, w, b, activation=name, out=out, **attributes) is None
        assert out.tobytes() == got.tobytes()


def test_random_forms() -> None:
    random = np.random.default_rng(5)
    kernel, taken = convolution.make("convolution", "float32", "cpu:0"), 0
    for seed in range(200):
        axes, groups = int(random.integers(1, 4)), int(random.choice([1, 1, 2, 3]))
        window, strides, dilations = (tuple(map(int, random.integers(1, 4, axes))) for _ in range(3))
        paddings = tuple((int(low), int(high)) for low, high in random.integers(0, 4, (axes, 2)))
        input = (
            int(random.integers(1, 4)),
            *map(int, random.integers(1, 14, axes)),
            groups * int(random.integers(2, 9)),
        )
        filter = (*window, input[-1] // groups, groups * int(random.choice([1, 3, 16, 17, 33, 70])))
        sizes = zip(input[1:-1], window, paddings, dilations, strict=True)
        if any(size + low + high < (n - 1) * rate + 1 for size, n, (low, high), rate in sizes):
            continue
        x, w, _, attributes = given((input, filter, strides, paddings, dilations, groups), "float32", seed)
        expected = oracle(x, w, **attributes)
        assert_near(kernel(x, w, **attributes), expected, "float32", max(1, np.abs(expected).max()))
        taken += 1
    assert taken > 100


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bytes_", [32, 16])
def test_processors_with_smaller_registers(bytes_: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registers, "register_bytes", lambda: bytes_)
    monkeypatch.setattr(convolution, "_entries", convolution._entries.__wrapped__)
    convolution_plan.plan.cache_clear()
    for form in FORMS:
        x, w, b, attributes = given(form, dtype)
        expected = oracle(x, w, **attributes) + b
        got = convolution.make("convolution_bias", dtype, "cpu:0")(x, w, b, activation="linear", **attributes)
        assert_near(got, expected, dtype, np.abs(expected).max())
    convolution_plan.plan.cache_clear()


def test_nan_and_infinity_reach_the_windows_that_have_them() -> None:
    x, w, b, attributes = given(((2, 9, 10, 3), (3, 3, 3, 20), (1, 1), ((1, 1), (1, 1)), (1, 1), 1), "float32")
    x[0, 4, 5, 1], x[1, 0, 0, 0] = np.nan, np.inf
    got = convolution.make("convolution_bias", "float32", "cpu:0")(x, w, b, activation="relu6", **attributes)
    is_nan = np.zeros(got.shape, bool)
    is_nan[0, 3:6, 4:7] = True
    np.testing.assert_array_equal(np.isnan(got), is_nan)
    np.testing.assert_array_equal(got[1, 0, 0], np.where(w[1, 1, 0] > 0, np.float32(6), np.float32(0)))


def test_denormal_numbers_take_no_longer_and_count_as_zeros() -> None:
    x, w, _, attributes = given(((1, 4, 4, 8), (3, 3, 8, 16), (1, 1), ((1, 1), (1, 1)), (1, 1), 1), "float32")
    got = convolution.make("convolution", "float32", "cpu:0")(x * np.float32(1e-42), w, **attributes)
    assert not got.any()


@pytest.mark.parametrize("offset", [4, 16, 60])
@pytest.mark.parametrize("form", FORMS[3:9], ids=str)
def test_arrays_may_begin_anywhere(form: Any, offset: int) -> None:
    x, w, b, attributes = given(form, "float32")
    kernel = convolution.make("convolution_bias", "float32", "cpu:0")
    expected = kernel(x, w, b, activation="relu", **attributes)
    moved = []
    for array in (x, w, b, expected):
        memory = np.full(array.nbytes + 64, 255, np.uint8)
        place = memory[offset : offset + array.nbytes].view(np.float32).reshape(array.shape)
        place[...] = array if array is not expected else np.nan
        moved.append((memory, place))
    (_, x), (_, w), (_, b), (memory, out) = moved
    assert kernel(x, w, b, activation="relu", out=out, **attributes) is None
    np.testing.assert_array_equal(out, expected)
    assert (memory[:offset] == 255).all()
    assert (memory[offset + out.nbytes :] == 255).all()


def test_a_filter_may_lie_in_any_way() -> None:
    x, w, _, attributes = given(((2, 9, 10, 6), (3, 3, 6, 40), (1, 1), ((1, 1), (1, 1)), (1, 1), 1), "float32")
    kernel = convolution.make("convolution", "float32", "cpu:0")
    expected = kernel(x, w, **attributes)
    for view in (np.asfortranarray(w), w[::-1].copy()[::-1], np.repeat(w, 2, -1)[..., ::2]):
        np.testing.assert_array_equal(kernel(x, view, **attributes), expected)


@pytest.mark.parametrize(
    "form",
    [
        ((0, 5, 5, 3), (3, 3, 3, 4), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
        ((2, 5, 5, 3), (3, 3, 3, 0), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
        ((2, 2, 5, 3), (3, 3, 3, 4), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ],
    ids=["no images", "no channels", "no places"],
)
def test_what_others_compute_is_declined(form: Any) -> None:
    x, w, _, attributes = given(form, "float32")
    assert convolution.make("convolution", "float32", "cpu:0")(x, w, **attributes) is NotImplemented


@pytest.mark.parametrize(
    ("input", "filter"),
    [((4, 28, 28, 16), (1, 1, 16, 4)), ((1, 3, 3, 128), (3, 3, 128, 128))],
    ids=["few columns of a product", "few pixels for a large filter"],
)
def test_what_the_reference_computes_faster_is_declined(
    input: Any, filter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    paddings = tuple((n // 2, n // 2) for n in filter[:-2])
    x, w, _, attributes = given((input, filter, (1, 1), paddings, (1, 1), 1), "float32")
    kernel = convolution.make("convolution", "float32", "cpu:0")
    assert kernel(x, w, **attributes) is not NotImplemented
    monkeypatch.setattr(convolution_plan, "_pays", PAYS)
    convolution_plan.plan.cache_clear()
    assert kernel(x, w, **attributes) is NotImplemented
    convolution_plan.plan.cache_clear()


def test_small_calls_are_those_of_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w, b, attributes = given(((1, 4, 4, 3), (3, 3, 3, 8), (1, 1), ((1, 1), (1, 1)), (1, 1), 1), "float32")
    monkeypatch.setattr(convolution_plan, "LEAST", 1 << 15)
    monkeypatch.setattr(convolution, "run", None)
    kernel = convolution.make("convolution", "float32", "cpu:0")
    got = kernel(x, w, **attributes)
    assert got.tobytes() == reference.convolution(x, w, **attributes).tobytes()
    assert kernel(x, w, out=got, **attributes) is NotImplemented  # so that it has the same bits
    form = {"activation": "relu", **attributes}
    got = convolution.make("convolution_bias", "float32", "cpu:0")(x, w, b, **form)
    assert got.tobytes() == reference.convolution_bias(x, w, b, **form).tobytes()


def test_an_input_may_lie_in_any_way() -> None:
    x, w, _, attributes = given(((2, 9, 8, 6), (3, 3, 6, 40), (1, 1), ((1, 1), (1, 1)), (1, 1), 1), "float32")
    kernel = convolution.make("convolution", "float32", "cpu:0")
    expected = kernel(x, w, **attributes)
    first = np.ascontiguousarray(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1)  # channels first
    for view in (first, x[:, ::-1].copy()[:, ::-1], np.repeat(x, 2, -1)[..., ::2]):
        np.testing.assert_array_equal(kernel(view, w, **attributes), expected)


@pytest.mark.parametrize("filter", [(3, 3, 3, 4), (3, 3, 1, 3), (1, 1, 3, 20)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_an_output_may_have_gaps_between_pixels(dtype: str, filter: Any) -> None:
    groups = 3 // filter[2]
    x, w, _, attributes = given(((2, 5, 6, 3), filter, (1, 1), ((0, 0), (0, 0)), (1, 1), groups), dtype)
    kernel = convolution.make("convolution", dtype, "cpu:0")
    expected = kernel(x, w, **attributes)
    images, rows, columns, channels = expected.shape
    memory = np.full((images, 3 * rows, 2 * columns, channels), 7, dtype)
    assert kernel(x, w, out=memory[:, 1::3, 1::2], **attributes) is None
    np.testing.assert_array_equal(memory[:, 1::3, 1::2], expected)
    memory[:, 1::3, 1::2] = 7
    assert (memory == 7).all()


def test_an_output_with_gaps_between_channels_or_backwards_is_declined() -> None:
    x, w, _, attributes = given(((2, 5, 5, 3), (3, 3, 3, 4), (1, 1), ((0, 0), (0, 0)), (1, 1), 1), "float32")
    for out in (
        np.empty((2, 4, 3, 3), np.float32).transpose(0, 2, 3, 1),
        np.empty((2, 3, 3, 8), np.float32)[..., ::2],
        np.empty((2, 3, 3, 4), np.float32)[:, ::-1],
    ):
        assert convolution.make("convolution", "float32", "cpu:0")(x, w, out=out, **attributes) is NotImplemented


@pytest.mark.parametrize("form", FORMS[:8] + FORMS[-2:], ids=str)
def test_bits_are_the_same_at_any_number_of_threads(form: Any) -> None:
    x, w, b, attributes = given(form, "float32")
    kernel, results = convolution.make("convolution_bias", "float32", "cpu:0"), []
    before = threads.count()
    try:
        for count in (1, 2, 3):
            threads.set_count(count)
            results.append(kernel(x, w, b, activation="tanh", **attributes).tobytes())
    finally:
        threads.set_count(before)
    assert len(set(results)) == 1


def test_several_threads_may_call_at_once() -> None:
    calls = [given(form, "float32", seed) for seed, form in enumerate(FORMS)]
    kernel = convolution.make("convolution", "float32", "cpu:0")
    expected = [kernel(x, w, **attributes).tobytes() for x, w, _, attributes in calls]
    wrong: list[int] = []

    def work() -> None:
        for n, (x, w, _, attributes) in enumerate(calls * 3):
            if kernel(x, w, **attributes).tobytes() != expected[n % len(calls)]:
                wrong.append(n)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


@pytest.mark.parametrize("form", [FORMS[3], FORMS[5], FORMS[8]], ids=str)
def test_traced_functions_have_the_bits_of_eager_calls(form: Any) -> None:
    x, w, b, attributes = given(form, "float32")

    def layer(x: Any, w: Any, b: Any) -> Any:
        return ag.reduce_sum(convolution_bias(x, w, b, *attributes.values(), activation="relu") * 2.0, axis=-1)

    eager = layer(*map(ag.constant, (x, w, b)))
    traced = ag.function(layer)(*map(ag.constant, (x, w, b)))
    assert eager.numpy().tobytes() == traced.numpy().tobytes()


def test_second_derivatives_go_through_it() -> None:
    form = ((1, 5, 5, 2), (3, 3, 2, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1)
    x, w, _, attributes = given(form, "float64")
    x, w = ag.constant(x), ag.constant(w)
    with ag.GradientTape() as outer:
        outer.watch(w)
        with ag.GradientTape() as inner:
            inner.watch(x)
            loss = ag.reduce_sum(general_convolution(x, w, *attributes.values()) ** 2)
        gradient = inner.gradient(loss, x)
        total = ag.reduce_sum(gradient * gradient)
    second = outer.gradient(total, w).numpy()
    step = np.zeros(w.shape)
    step[1, 0, 1, 2] = 1e-5

    def value(weights: Any) -> float:
        with ag.GradientTape() as tape:
            tape.watch(x)
            loss = ag.reduce_sum(general_convolution(x, ag.constant(weights), *attributes.values()) ** 2)
        return float(ag.reduce_sum(tape.gradient(loss, x) ** 2).numpy())

    slope = (value(w.numpy() + step) - value(w.numpy() - step)) / 2e-5
    np.testing.assert_allclose(second[1, 0, 1, 2], slope, rtol=1e-6)


def test_sums_that_would_lose_digits_are_left_to_the_reference() -> None:
    rng = np.random.default_rng(3)
    x, filters = rng.normal(size=(2, 30, 5000)).astype(np.float32), rng.normal(size=(2, 5000, 16)).astype(np.float32)
    form = {"strides": (1,), "paddings": ((0, 0),), "dilations": (1,), "groups": 1}
    kernel = convolution.make("convolution", "float32", "cpu")
    assert kernel(x, filters, **form) is NotImplemented
    assert kernel(x[..., :4000], filters[:, :4000], **form) is not NotImplemented
