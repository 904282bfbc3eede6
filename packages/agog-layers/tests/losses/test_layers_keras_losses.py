"""Losses of ``tf.keras``, against NumPy in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers.losses import classification, loss, regression
from agog_layers.losses import lookup as losses
from agog_layers.losses.loss import Reduction
from agog_layers.serialization.custom_objects import custom_object_scope
from agog_testing import says
from agog_testing.gradcheck import gradcheck

SEED = 31
EPSILON = 1e-7


CLASSES = [getattr(loss, name) for name in loss.__all__ if name not in ("Loss", "Reduction")]


def function_of(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(classification if hasattr(classification, name) else regression, name)
    return found


def softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def binary(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    q = np.clip(p, EPSILON, 1 - EPSILON)
    return -(y * np.log(q) + (1 - y) * np.log(1 - q)).mean(-1)


def categorical(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    q = np.clip(p / p.sum(-1, keepdims=True), EPSILON, 1 - EPSILON)
    return -(y * np.log(q)).sum(-1)


def huber(y: np.ndarray, x: np.ndarray, delta: float = 1.0) -> np.ndarray:
    e = np.abs(y - x)
    return np.where(e <= delta, e**2 / 2, delta * (e - delta / 2)).mean(-1)


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def divergence(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    p, q = np.clip(y, EPSILON, 1), np.clip(x, EPSILON, 1)
    return (p * np.log(p / q)).sum(-1)


ORACLES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "mean_squared_error": lambda y, x: ((y - x) ** 2).mean(-1),
    "mean_absolute_error": lambda y, x: np.abs(y - x).mean(-1),
    "mean_absolute_percentage_error": lambda y, x: 100 * (np.abs(y - x) / np.maximum(np.abs(y), EPSILON)).mean(-1),
    "mean_squared_logarithmic_error": lambda y, x: (
        (np.log(np.maximum(y, EPSILON) + 1) - np.log(np.maximum(x, EPSILON) + 1)) ** 2
    ).mean(-1),
    "logcosh": lambda y, x: np.log(np.cosh(y - x)).mean(-1),
    "huber": huber,
    "poisson": lambda y, x: (x - y * np.log(x + EPSILON)).mean(-1),
    "kullback_leibler_divergence": divergence,
    "cosine_proximity": lambda y, x: -(unit(y) * unit(x)).sum(-1),
    "hinge": lambda y, x: np.maximum(0, 1 - y * x).mean(-1),
    "squared_hinge": lambda y, x: (np.maximum(0, 1 - y * x) ** 2).mean(-1),
    "categorical_hinge": lambda y, x: np.maximum(0, ((1 - y) * x).max(-1) - (y * x).sum(-1) + 1),
    "categorical_crossentropy": categorical,
    "binary_crossentropy": binary,
}
PROBABILITIES = {"kullback_leibler_divergence", "categorical_crossentropy", "binary_crossentropy"}


def sample(name: str, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Labels and predictions as the loss wants them."""
    rng = np.random.default_rng(SEED)
    if name in PROBABILITIES:
        return rng.uniform(0.05, 0.95, shape), rng.uniform(0.05, 0.95, shape)
    if name == "poisson":
        return rng.poisson(2.0, shape).astype(np.float64), rng.uniform(0.1, 4.0, shape)
    if name == "categorical_hinge":
        return np.eye(shape[-1])[rng.integers(0, shape[-1], shape[:-1])], rng.normal(size=shape)
    if "hinge" in name:
        return rng.choice([-1.0, 1.0], shape), 2 * rng.normal(size=shape)
    return rng.normal(size=shape) + 0.1, 2 * rng.normal(size=shape)


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (2, 3, 4), (7,)])
@pytest.mark.parametrize("name", ORACLES)
def test_values(name: str, shape: tuple[int, ...]) -> None:
    y, x = sample(name, shape)
    expected = ORACLES[name](y, x)
    for dtype, tolerance in (("float64", 1e-10), ("float32", 2e-5), ("float16", 4e-3)):
        # Labels and predictions as the dtype holds them, so that only the loss's own errors count.
        low_y, low_x = y.astype(dtype), x.astype(dtype)
        expected = ORACLES[name](low_y.astype(np.float64), low_x.astype(np.float64))
        got = function_of(name)(low_y, low_x)
        assert got.dtype == ag.as_dtype(dtype)
        assert got.shape == shape[:-1]
        np.testing.assert_allclose(got.numpy(), expected, rtol=tolerance, atol=tolerance, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("name", ORACLES)
def test_empty_batch(name: str) -> None:
    assert function_of(name)(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)


@pytest.mark.parametrize("name", ORACLES)
def test_gradients(name: str) -> None:
    y, x = sample(name, (3, 4))
    gradcheck(lambda x: function_of(name)(y, x), [x])


@pytest.mark.parametrize("name", ["binary_crossentropy", "categorical_crossentropy"])
@pytest.mark.parametrize("smoothing", [0, 0.2])
def test_logits_and_smoothing(name: str, smoothing: float) -> None:
    rng = np.random.default_rng(SEED)
    z, y = 3 * rng.normal(size=(4, 5)), np.eye(5)[rng.integers(0, 5, 4)]
    to_probabilities, evenly = (sigmoid, 1 / 2) if name.startswith("binary") else (softmax, 1 / 5)
    expected = ORACLES[name](y * (1 - smoothing) + smoothing * evenly, to_probabilities(z))
    loss_of = function_of(name)
    np.testing.assert_allclose(
        loss_of(y, z, from_logits=True, label_smoothing=smoothing).numpy(), expected, rtol=1e-9, err_msg=f"seed {SEED}"
    )
    np.testing.assert_allclose(loss_of(y, to_probabilities(z), label_smoothing=smoothing).numpy(), expected, rtol=1e-9)
    gradcheck(lambda z: loss_of(y, z, from_logits=True, label_smoothing=smoothing), [z])


@pytest.mark.parametrize("shape", [(4,), (4, 1), (2, 3), (2, 3, 1)])
@pytest.mark.parametrize("label_type", [np.int32, np.int64, np.uint8, np.float32])
def test_sparse_categorical_crossentropy(shape: tuple[int, ...], label_type: Any) -> None:
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, 5, shape).astype(label_type)
    flat = y[..., 0] if shape[-1] == 1 else y
    p = rng.uniform(0.1, 1, (*flat.shape, 5))
    expected = categorical(np.eye(5)[flat.astype(int)], p)
    got = classification.sparse_categorical_crossentropy(y, p)
    assert got.shape == flat.shape
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-10, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(
        classification.sparse_categorical_crossentropy(y, np.log(p), from_logits=True).numpy(), expected, rtol=1e-10
    )
    gradcheck(lambda p: classification.sparse_categorical_crossentropy(y, p), [p])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("binary_crossentropy", [[0.0, 1.0]]),
        ("categorical_crossentropy", [[0.0, 1.0]]),
        ("sparse_categorical_crossentropy", [1]),
        ("kullback_leibler_divergence", [[0.0, 1.0]]),
    ],
)
def test_wrong_without_doubt_is_finite(name: str, label: Any, dtype: str) -> None:
    x = ag.constant([[1.0, 0.0]], dtype)
    with ag.GradientTape() as tape:
        tape.watch(x)
        value = function_of(name)(label, x)
    assert 15 < float(value[0]) < 17  # -log(1e-7) is 16.1
    assert np.isfinite(tape.gradient(value, x).numpy()).all()


def test_extreme_logits() -> None:
    z = np.array([[-1000.0, 1000.0]], np.float32)
    assert classification.binary_crossentropy([[1, 0]], z, from_logits=True).numpy().tolist() == [1000.0]
    assert classification.categorical_crossentropy([[1, 0]], z, from_logits=True).numpy().tolist() == [2000.0]
    assert classification.sparse_categorical_crossentropy([0], z, from_logits=True).numpy().tolist() == [2000.0]
    np.testing.assert_allclose(regression.logcosh([[0.0]], [[-3e4]]).numpy(), [3e4 - np.log(2)])


def test_integers_become_floats() -> None:
    got = regression.mean_squared_error(np.array([[1, 2]]), np.array([[1, 4]]))
    assert got.dtype == ag.float32
    assert got.numpy().tolist() == [2.0]


@pytest.mark.parametrize("delta", [0.3, 2.0])
def test_huber_delta(delta: float) -> None:
    y, x = sample("huber", (5, 3))
    np.testing.assert_allclose(regression.huber(y, x, delta=delta).numpy(), huber(y, x, delta), rtol=1e-12)


ALIASES = {
    "mse": "mean_squared_error",
    "MSE": "mean_squared_error",
    "mae": "mean_absolute_error",
    "MAE": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "MAPE": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "MSLE": "mean_squared_logarithmic_error",
    "kld": "kullback_leibler_divergence",
    "KLD": "kullback_leibler_divergence",
    "cosine": "cosine_proximity",
    "huber_loss": "huber",
}


def test_names() -> None:
    for name in [*ORACLES, "sparse_categorical_crossentropy"]:
        assert losses.get(name) is function_of(name)
        assert losses.serialize(function_of(name)) == name
        assert losses.deserialize(name) is function_of(name)
    for alias, name in ALIASES.items():
        assert losses.get(alias) is getattr(losses, alias) is function_of(name)
    assert losses.get(None) is None
    assert losses.get(huber) is huber
    mine = loss.Huber()
    assert losses.get(mine) is mine


def test_names_of_the_program() -> None:
    assert losses.deserialize("mine", {"mine": huber}) is huber
    with custom_object_scope({"mine": huber}):
        assert losses.get("mine") is huber


def test_unknown_names() -> None:
    with says(
        ValueError,
        "Unknown loss 'mean_square_error'; the names are KLD, MAE, MAPE, MSE, MSLE, binary_crossentropy, "
        "binary_focal_crossentropy, categorical_crossentropy, categorical_focal_crossentropy, "
        "categorical_generalized_cross_entropy, categorical_hinge, cosine, cosine_proximity, ctc, dice, hinge, huber, "
        "huber_loss, kld, kullback_leibler_divergence, logcosh, mae, mape, mean_absolute_error, "
        "mean_absolute_percentage_error, mean_squared_error, mean_squared_logarithmic_error, mse, msle, poisson, "
        "sparse_categorical_crossentropy, squared_hinge, tversky.",
    ):
        losses.get("mean_square_error")
    with says(
        ValueError,
        "Unknown loss 'Hubert'; the names are BinaryCrossentropy, BinaryFocalCrossentropy, CTC, "
        "CategoricalCrossentropy, CategoricalFocalCrossentropy, CategoricalGeneralizedCrossEntropy, CategoricalHinge, "
        "CosineProximity, Dice, Hinge, Huber, KLDivergence, LogCosh, MeanAbsoluteError, MeanAbsolutePercentageError, "
        "MeanSquaredError, MeanSquaredLogarithmicError, Poisson, SparseCategoricalCrossentropy, SquaredHinge, Tversky.",
    ):
        losses.deserialize({"class_name": "Hubert", "config": {}})
    with says(TypeError, "A loss is a name, a function, or what serialize returned; got 3 of type int."):
        losses.get(3)
    with says(ValueError, "A loss that can be serialized is a function, or has get_config; got 3 of type int."):
        losses.serialize(3)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_objects(cls: Any) -> None:
    made = cls()
    name = made.name
    assert losses.get(name) is cls.function
    if name == "sparse_categorical_crossentropy":
        y, x = np.array([1, 0, 2, 2, 1]), sample("categorical_crossentropy", (5, 3))[1]
        each = categorical(np.eye(3)[y], x)
    else:
        y, x = sample(name, (5, 3))
        each = ORACLES[name](y, x)
    weights = np.array([1.0, 0.0, 2.0, 0.5, 3.0])
    np.testing.assert_allclose(made(y, x).numpy(), each.mean(), rtol=1e-9, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(made(y, x, weights).numpy(), (each * weights).mean(), rtol=1e-9)
    np.testing.assert_allclose(made(y, x, sample_weight=2.0).numpy(), 2 * each.mean(), rtol=1e-9)
    np.testing.assert_allclose(cls(reduction=Reduction.SUM)(y, x, weights).numpy(), (each * weights).sum(), rtol=1e-9)
    np.testing.assert_allclose(cls(reduction="none")(y, x, weights[:, None]).numpy(), each * weights, rtol=1e-9)
    assert cls(reduction="auto")(y, x).numpy() == made(y, x).numpy()
    again = losses.deserialize(losses.serialize(cls(reduction="sum", name="other")))
    assert (type(again), again.reduction, again.name) == (cls, "sum", "other")


def test_options_of_objects() -> None:
    assert losses.serialize(loss.BinaryCrossentropy(True, 0.1)) == {
        "class_name": "BinaryCrossentropy",
        "config": {
            "from_logits": True,
            "label_smoothing": 0.1,
            "reduction": "sum_over_batch_size",
            "name": "binary_crossentropy",
        },
    }
    y, z = np.array([[1.0, 0.0]]), np.array([[0.5, 2.0]])
    np.testing.assert_allclose(
        loss.BinaryCrossentropy(True, 0.1)(y, z).numpy(), binary(y * 0.9 + 0.05, sigmoid(z)).mean(), rtol=1e-10
    )
    np.testing.assert_allclose(loss.Huber(0.3)(y, z).numpy(), huber(y, z, 0.3).mean(), rtol=1e-12)


def test_weights_of_each_value() -> None:
    y, x = sample("mean_squared_error", (2, 3, 4))
    each = ORACLES["mean_squared_error"](y, x)
    for weights in (np.array([1.0, 3.0]), np.array([[1.0], [3.0]]), np.arange(6.0).reshape(2, 3)):
        wide = weights[:, None] if weights.ndim == 1 else weights
        np.testing.assert_allclose(
            loss.MeanSquaredError()(y, x, weights).numpy(), (each * wide).mean(), rtol=1e-12, err_msg=f"seed {SEED}"
        )
    with says(
        ValueError,
        "mean_squared_error: weights of shape (3, 1) can not be broadcast to values of shape (2, 3); they must be a "
        "scalar, or have the same rank and in each axis the same size or 1.",
    ):
        loss.MeanSquaredError()(y, x, np.ones(3))


def test_a_column_of_predictions_meets_flat_labels() -> None:
    y, x = np.array([1.0, 2.0, 3.0]), np.array([[1.0], [2.0], [5.0]])
    for labels, predictions in ((y, x), (y[:, None], x[:, 0]), (y[:, None], x)):
        assert regression.mean_squared_error(labels, predictions).numpy().tolist() == [0.0, 0.0, 4.0]
    assert float(loss.MeanSquaredError()(y, x)) == float(loss.MeanSquaredError()(y[:, None], x[:, 0])) == 4 / 3


def test_own_loss() -> None:
    class Largest(loss.Loss):
        def call(self, y_true: Any, y_pred: Any) -> Any:
            return ag.reduce_max(ag.abs(y_true - y_pred), -1)

    assert Largest().name == "Largest"
    assert float(Largest()([[1.0, 2.0]], [[1.0, 5.0]])) == 3.0
    assert losses.deserialize(losses.serialize(Largest()), {"Largest": Largest}).name == "Largest"
    with says(NotImplementedError, "Loss.call is not implemented; it computes each example's loss."):
        loss.Loss()([1.0], [1.0])


def test_unknown_reduction() -> None:
    with says(ValueError, "Invalid Reduction Key 'mean'; use one of auto, none, sum, sum_over_batch_size."):
        loss.Hinge(reduction="mean")


NUMBERS = (
    "Class numbers go with sparse_categorical_crossentropy; other labels need as many numbers as the last layer has "
    "units."
)
COMPARING = [
    *("mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_logarithmic_error"),
    *("hinge", "squared_hinge", "categorical_hinge", "categorical_crossentropy", "binary_crossentropy"),
    *("logcosh", "poisson", "kullback_leibler_divergence", "cosine_proximity", "huber"),
]


@pytest.mark.parametrize("name", COMPARING)
@pytest.mark.parametrize(
    ("labels", "output", "hint"),
    [
        ((3,), (3, 3), NUMBERS),
        ((3, 1), (3, 3), NUMBERS),
        ((1, 3), (3, 3), "Make both of one shape."),
        ((2, 3), (3,), "Make both of one shape."),
        ((3, 3), (3, 1), "Make both of one shape."),
    ],
)
def test_what_would_broadcast_is_refused(name: str, labels: Any, output: Any, hint: str) -> None:
    with says(
        ValueError,
        f"{name} compares labels and output number by number; got labels of shape {labels} for an output of shape "
        f"{output}. {hint}",
    ):
        function_of(name)(np.ones(labels, np.float32), np.ones(output, np.float32))


@pytest.mark.parametrize("name", [name for name in COMPARING if name != "cosine_proximity"])  # it compares directions
def test_a_single_label_meets_all(name: str) -> None:
    function, output = function_of(name), np.full((2, 3), 0.25, np.float32)
    one, each = function(np.float32(0.5), output), function(np.full((2, 3), 0.5, np.float32), output)
    assert np.array_equal(one.numpy(), each.numpy())


def test_losses_of_the_program_that_are_described_but_not_derived() -> None:
    class Mixed:
        def __init__(self, share: float) -> None:
            self.share = share

        def get_config(self) -> dict[str, float]:
            return {"share": self.share}

        def __call__(self, y_true: Any, y_pred: Any) -> Any:
            return self.share * (y_true - y_pred)

    again = losses.deserialize(losses.serialize(Mixed(0.3)), {"Mixed": Mixed})
    assert isinstance(again, Mixed)
    assert again.share == 0.3
