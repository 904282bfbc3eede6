"""LSTM and GRU on the host, against the kernels of the device "cpu" in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda.gru import gru, gru_grad
from agog_cuda_cupy.cuda.lstm import lstm, lstm_grad

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)
TOLERANCES = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-5, "float64": 1e-12}
GRU_SOURCES = ("x", "kernel", "recurrent_kernel", "bias", "initial_hidden")
LSTM_SOURCES = ("x", "kernel", "recurrent_kernel", "bias", "initial_hidden", "initial_cell")
TIMES, BATCH, FEATURES, UNITS = 5, 3, 4, 7


def _numbers(rng: Any, *shape: int, dtype: str) -> Any:
    return (rng.standard_normal(shape) / 2).astype(numpy_dtype(dtype))


def _mask(rng: Any, is_masked: bool) -> Any:
    return rng.integers(0, 2, (TIMES, BATCH)).astype(bool) if is_masked else np.zeros((0, 0), bool)


def _exact(arrays: Any) -> list[Any]:
    return [array if array.dtype == bool else array.astype("f8") for array in arrays]


def _agree(found: Any, expected: Any, dtype: str, names: Any) -> None:
    for name, a, b in zip(names, found, expected, strict=True):
        assert a.shape == b.shape, name
        assert a.dtype == numpy_dtype(dtype), name
        scale = max(1.0, float(np.abs(b).max()))
        np.testing.assert_allclose(a.astype("f8") / scale, b / scale, rtol=0, atol=TOLERANCES[dtype], err_msg=name)


@pytest.fixture(params=["all times at once", "one time after the other"])
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a block takes all times of an example."""
    if request.param == "one time after the other":
        monkeypatch.setattr("agog_cuda_cupy.cuda.lstm._MOST_READS", 0)


@pytest.mark.usefixtures("how")
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("is_masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize(
    ("activation", "recurrent_activation"), [("tanh", "sigmoid"), ("relu", "hard_sigmoid"), ("linear", "tanh")]
)
def test_lstm_and_its_gradients(
    modules: Any, order: str, activation: str, recurrent_activation: str, is_masked: bool, dtype: str
) -> None:
    rng = np.random.default_rng(7)
    shapes = [(TIMES, BATCH, FEATURES), (FEATURES, 4 * UNITS), (UNITS, 4 * UNITS), (4 * UNITS,), (BATCH, UNITS)]
    arrays = [_numbers(rng, *shape, dtype=dtype) for shape in [*shapes, (BATCH, UNITS)]]
    arrays.append(_mask(rng, is_masked))
    names = {"activation": activation, "recurrent_activation": recurrent_activation}
    hidden, cell, reserve = lstm(modules, *arrays, **names)
    expected = REFERENCE("lstm")(*_exact(arrays), **names)
    _agree((hidden, cell), expected[:2], dtype, ("hidden", "cell"))
    assert reserve.dtype == (np.float64 if dtype == "float64" else np.float32)
    np.testing.assert_allclose(reserve, expected[2], atol=TOLERANCES[dtype])

    gradients = [_numbers(rng, *hidden.shape, dtype=dtype), _numbers(rng, *cell.shape, dtype=dtype)]
    found = lstm_grad(modules, *gradients, *arrays, hidden, reserve, **names, sources=LSTM_SOURCES)
    exact = *_exact(gradients), *_exact(arrays), expected[0], expected[2]
    _agree(found, REFERENCE("lstm_grad")(*exact, **names, sources=LSTM_SOURCES), dtype, LSTM_SOURCES)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("is_masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("reset_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("activation", "recurrent_activation"), [("tanh", "sigmoid"), ("linear", "hard_sigmoid")])
def test_gru_and_its_gradients(
    modules: Any,
    order: str,
    activation: str,
    recurrent_activation: str,
    reset_after: bool,
    is_masked: bool,
    dtype: str,
) -> None:
    rng = np.random.default_rng(7)
    bias = (2, 3 * UNITS) if reset_after else (3 * UNITS,)
    shapes = [(TIMES, BATCH, FEATURES), (FEATURES, 3 * UNITS), (UNITS, 3 * UNITS), bias, (BATCH, UNITS)]
    arrays = [_numbers(rng, *shape, dtype=dtype) for shape in shapes]
    arrays.append(_mask(rng, is_masked))
    names: dict[str, Any] = {"activation": activation, "recurrent_activation": recurrent_activation}
    names["reset_after"] = reset_after
    hidden, reserve = gru(modules, *arrays, **names)
    expected = REFERENCE("gru")(*_exact(arrays), **names)
    _agree((hidden,), expected[:1], dtype, ("hidden",))
    np.testing.assert_allclose(reserve, expected[1], atol=TOLERANCES[dtype])

    gradient = _numbers(rng, *hidden.shape, dtype=dtype)
    found = gru_grad(modules, gradient, *arrays, hidden, reserve, **names, sources=GRU_SOURCES)
    exact = gradient.astype("f8"), *_exact(arrays), expected[0], expected[1]
    _agree(found, REFERENCE("gru_grad")(*exact, **names, sources=GRU_SOURCES), dtype, GRU_SOURCES)


@pytest.mark.usefixtures("how")
@pytest.mark.parametrize("units", [32, 40, 256, 257])
def test_an_lstm_of_several_warps(modules: Any, order: str, units: int) -> None:
    rng = np.random.default_rng(7)
    shapes = [(3, 2, 4), (4, 4 * units), (units, 4 * units), (4 * units,), (2, units), (2, units)]
    arrays = [*[_numbers(rng, *shape, dtype="float32") / 4 for shape in shapes], np.zeros((0, 0), bool)]
    names = {"activation": "tanh", "recurrent_activation": "sigmoid"}
    hidden, cell, reserve = lstm(modules, *arrays, **names)
    expected = REFERENCE("lstm")(*_exact(arrays), **names)
    _agree((hidden, cell), expected[:2], "float32", ("hidden", "cell"))
    gradients = [np.ones_like(hidden), np.ones_like(cell)]
    found = lstm_grad(modules, *gradients, *arrays, hidden, reserve, **names, sources=LSTM_SOURCES)
    exact = *_exact(gradients), *_exact(arrays), expected[0], expected[2]
    _agree(found, REFERENCE("lstm_grad")(*exact, **names, sources=LSTM_SOURCES), "float32", LSTM_SOURCES)


def test_an_lstm_of_no_time_gives_its_state(modules: Any) -> None:
    shapes = [(0, BATCH, FEATURES), (FEATURES, 4 * UNITS), (UNITS, 4 * UNITS), (4 * UNITS,), (BATCH, UNITS)]
    arrays = [np.ones(shape, "f4") for shape in [*shapes, (BATCH, UNITS)]]
    mask = np.zeros((0, 0), bool)
    hidden, cell, _ = lstm(modules, *arrays, mask, activation="tanh", recurrent_activation="sigmoid")
    assert hidden.shape == (0, BATCH, UNITS)
    np.testing.assert_array_equal(cell, arrays[-1])


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    arrays = [np.ones(3, "i4")] * 7
    assert lstm(modules, *arrays, activation="tanh", recurrent_activation="tanh") is NotImplemented
    arrays = [np.ones(3, "f4")] * 7
    assert lstm(modules, *arrays, activation="elu", recurrent_activation="tanh") is NotImplemented
    names: dict[str, Any] = {"activation": "elu", "recurrent_activation": "tanh", "reset_after": True}
    assert gru(modules, *arrays[:6], **names) is NotImplemented
