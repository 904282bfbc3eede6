"""Metrics against NumPy in float64; batch by batch they say what one batch says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

import agog_core as ag
from agog_layers import metrics
from agog_layers.metrics import Metric
from agog_testing import says

SEED = 41
N, CLASSES = 60, 4


class Case(NamedTuple):
    """How a metric is made, what it is given, and what it says then."""

    make: Callable[..., Metric]
    sample: Callable[[np.random.Generator, str], tuple[np.ndarray, np.ndarray]]
    oracle: Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def numbers(rng: np.random.Generator, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=N).astype(dtype), rng.normal(size=N).astype(dtype)


def classes(rng: np.random.Generator, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(0, CLASSES, N).astype("int32"), rng.integers(0, CLASSES, N)


def scores(rng: np.random.Generator, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(0, CLASSES, N), rng.normal(size=(N, CLASSES)).astype(dtype)


def one_hot(rng: np.random.Generator, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    y, x = scores(rng, dtype)
    return np.eye(CLASSES, dtype="int32")[y], x


def probabilities(rng: np.random.Generator, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, N)
    return y, np.clip(rng.uniform(size=N) * 0.7 + 0.3 * y, 0, 1).astype(dtype)


def average(values: np.ndarray, weights: np.ndarray) -> Any:
    return np.average(values.astype(np.float64), weights=weights)


def best(x: np.ndarray, k: int) -> np.ndarray:
    return np.argsort(x, -1)[:, -k:]


def matrix(y: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    counts = np.zeros((CLASSES, CLASSES))
    for label, predicted, weight in zip(y, x, w, strict=True):
        counts[label, predicted] += weight
    return counts


def precision(y: np.ndarray, x: np.ndarray, w: np.ndarray, threshold: float = 0.5) -> Any:
    yes = x > threshold
    return w[yes & (y == 1)].sum() / w[yes].sum()


def recall(y: np.ndarray, x: np.ndarray, w: np.ndarray, threshold: float = 0.5) -> Any:
    return w[(x > threshold) & (y == 1)].sum() / w[y == 1].sum()


def area(curve: str, method: str, count: int) -> Callable[[np.ndarray, np.ndarray, np.ndarray], Any]:
    """AUC with a loop over the thresholds."""

    def oracle(y: np.ndarray, x: np.ndarray, w: np.ndarray) -> Any:
        inner = [n / (count - 1) for n in range(1, count - 1)]
        points, total = [], 0.0
        for threshold in [-1e-7, *inner, 1 + 1e-7]:
            yes = x.astype(np.float64) > threshold
            hits, alarms = w[yes & (y == 1)].sum(), w[yes & (y == 0)].sum()
            share = hits / w[y == 1].sum()
            precision = hits / (hits + alarms) if hits + alarms else 1.0
            points.append((alarms / w[y == 0].sum(), share) if curve == "ROC" else (share, precision))
        for (x1, y1), (x2, y2) in pairwise(points):
            height = {"minoring": min, "majoring": max}.get(method, lambda a, b: (a + b) / 2)(y1, y2)
            total += (x1 - x2) * height
        return total

    return oracle


AUC = metrics.AUC
CASES = {
    "Mean": Case(
        metrics.Mean, lambda rng, dtype: (rng.normal(size=N).astype(dtype),) * 2, lambda y, x, w: average(y, w)
    ),
    "Accuracy": Case(metrics.Accuracy, classes, lambda y, x, w: average(y == x, w)),
    "CategoricalAccuracy": Case(
        metrics.CategoricalAccuracy, one_hot, lambda y, x, w: average(y.argmax(-1) == x.argmax(-1), w)
    ),
    "BinaryAccuracy": Case(
        lambda **options: metrics.BinaryAccuracy(0.6, **options),
        probabilities,
        lambda y, x, w: average((x > 0.6) == y, w),
    ),
    "SparseAccuracy": Case(metrics.SparseAccuracy, scores, lambda y, x, w: average(y == x.argmax(-1), w)),
    "SparseTopKAccuracy": Case(
        lambda **options: metrics.SparseTopKAccuracy(2, **options),
        scores,
        lambda y, x, w: average((best(x, 2) == y[:, None]).any(-1), w),
    ),
    "MeanSquaredError": Case(metrics.MeanSquaredError, numbers, lambda y, x, w: average((y - x) ** 2, w)),
    "MeanAbsoluteError": Case(metrics.MeanAbsoluteError, numbers, lambda y, x, w: average(abs(y - x), w)),
    "RootMeanSquaredError": Case(
        metrics.RootMeanSquaredError, numbers, lambda y, x, w: np.sqrt(average((y - x) ** 2, w))
    ),
    "Precision": Case(metrics.Precision, probabilities, precision),
    "Recall": Case(metrics.Recall, probabilities, recall),
    "Recall above 0.8": Case(
        lambda **options: metrics.Recall(threshold=0.8, **options),
        probabilities,
        lambda y, x, w: recall(y, x, w, 0.8),
    ),
    "ConfusionMatrix": Case(
        lambda dtype="float64", **options: metrics.ConfusionMatrix(CLASSES, dtype=dtype, **options), classes, matrix
    ),
} | {
    f"AUC {curve} {method} {count}": Case(
        lambda name=None, curve=curve, method=method, count=count, **options: AUC(
            name, count, curve, method, **options
        ),
        probabilities,
        area(curve, method, count),
    )
    for curve in ("ROC", "PR")
    for method in ("trapezoidal", "minoring", "majoring")
    for count in (2, 3, 17, 200)
}


def update(name: str, metric: Metric, y: np.ndarray, x: np.ndarray, w: np.ndarray | None) -> Any:
    arguments = (x,) if name == "Mean" else (y, x)
    return metric(*arguments) if w is None else metric(*arguments, weights=w)


def sample(name: str, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    return *CASES[name].sample(rng, dtype), np.where(rng.uniform(size=N) < 0.2, 0.0, rng.uniform(0.5, 2.0, N))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_batches(name: str, weighted: bool, dtype: str) -> None:
    y, x, w = sample(name, dtype)
    weights = w if weighted else None
    expected = CASES[name].oracle(y, x, w if weighted else np.ones(N))
    for given, tolerance in (("float64", 1e-6 if dtype == "float32" else 1e-11), ("float32", 1e-5)):
        at_once, in_parts = CASES[name].make(dtype=given), CASES[name].make(dtype=given)
        update(name, at_once, y, x, weights)
        for start, end in ((0, 7), (7, 7), (7, 40), (40, N)):
            update(name, in_parts, y[start:end], x[start:end], None if weights is None else weights[start:end])
        for metric in (at_once, in_parts):
            assert metric.result().dtype == ag.as_dtype(given)
            np.testing.assert_allclose(metric.result().numpy(), expected, rtol=tolerance, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("name", CASES)
def test_a_new_metric_and_one_that_forgot(name: str) -> None:
    y, x, _ = sample(name, "float64")
    metric = CASES[name].make(name="my metric")
    assert metric.name == "my metric"
    assert all(variable.name.startswith("my_metric/") for variable in metric.variables)
    assert metric.weights == metric.variables
    first = metric.result().numpy()
    assert (first == 0).all() if name == "ConfusionMatrix" else np.isnan(first)
    update(name, metric, y, x, None)
    after = metric.result(write_summary=False).numpy()
    np.testing.assert_array_equal(metric.value()().numpy(), after)
    metric.init_variables()
    np.testing.assert_array_equal(metric.result().numpy(), first)
    update(name, metric, y, x, None)
    np.testing.assert_array_equal(metric.result().numpy(), after)
    with says(ValueError, "Metric 'my metric': write_summary must be True or False; got 'yes'."):
        metric.result(write_summary="yes")


@pytest.mark.parametrize("name", CASES)
def test_calls_return_their_arguments(name: str) -> None:
    y, x, w = sample(name, "float64")
    expected: tuple[Any, ...] = (x,) if name == "Mean" else (y, x)
    got = update(name, CASES[name].make(), y, x, None)
    assert (got is x) if name == "Mean" else all(a is b for a, b in zip(got, expected, strict=True))
    got = update(name, CASES[name].make(), y, x, w)
    assert all(a is b for a, b in zip(got, (*expected, w), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_aggregates_and_checkpoints(name: str) -> None:
    y, x, w = sample(name, "float64")
    first, second = CASES[name].make(), CASES[name].make()
    update(name, first, y[:20], x[:20], w[:20])
    update(name, second, y[20:], x[20:], w[20:])
    first.aggregate([second])
    np.testing.assert_allclose(first.result().numpy(), CASES[name].oracle(y, x, w), rtol=1e-11)
    parts = first.checkpoint_dependencies()
    assert list(parts.values()) == first.variables
    assert [f"{metric_name}:0" for metric_name in parts] == [v.name.rpartition("/")[2] for v in first.variables]


@pytest.mark.parametrize("name", [name for name in CASES if name != "Mean"])
def test_shapes_must_fit(name: str) -> None:
    y, x, _ = sample(name, "float64")
    metric = CASES[name].make(name="m")
    with pytest.raises(ag.errors.InvalidArgumentError) as caught:
        metric(y[:3], x[:4])
    y, x = y[:3], x[:4]
    assert str(caught.value) == (
        f"Metric 'm': predictions must have the labels' shape and an axis of classes after it; got predictions of "
        f"shape {x.shape} and labels of shape {y.shape}."
        if name.startswith("Sparse")
        else f"Metric 'm': labels and predictions must be of one shape; got {y.shape} and {x.shape}."
    )
    with says(
        ValueError,
        "Metric 'm': weights of shape (2,) can not be broadcast to values of shape (3,); they must be a scalar, or "
        "have the same rank and in each axis the same size or 1.",
    ):
        metric(y, x[:3], weights=[1.0, 2.0])


@pytest.mark.parametrize("label_type", [np.bool_, np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("prediction_type", [np.bool_, np.int32, np.float16, np.float64])
def test_labels_of_any_dtype(label_type: Any, prediction_type: Any) -> None:
    y, x = np.array([1, 1, 0, 0, 1]).astype(label_type), np.array([1, 0, 1, 0, 1]).astype(prediction_type)
    for metric, expected in (
        (metrics.BinaryAccuracy(0.5), 3 / 5),
        (metrics.Precision(), 2 / 3),
        (metrics.Recall(), 2 / 3),
        (metrics.AUC(), (2 / 3 + 1 / 2) / 2),
    ):
        metric(y, x)
        np.testing.assert_allclose(metric.result().numpy(), expected, rtol=1e-12)
    if label_type is not np.bool_ and prediction_type is not np.bool_:
        error = metrics.MeanSquaredError()
        error(y, x)
        assert error.result().numpy() == 0.4


def test_weights_spread() -> None:
    y, x = np.array([[1, 0, 1], [1, 1, 0]]), np.array([[1, 1, 1], [0, 1, 0]])
    for weights in (2.0, np.array([[2.0], [3.0]]), np.array([[1.0, 2.0, 0.0]])):
        wide = np.broadcast_to(weights, y.shape)
        for metric, expected in (
            (metrics.Precision(), precision(y, x, wide)),
            (metrics.Recall(), recall(y, x, wide)),
            (metrics.BinaryAccuracy(0.5), average(y == x, wide)),
        ):
            metric(y, x, weights)
            np.testing.assert_allclose(metric.result().numpy(), expected, rtol=1e-12)


def test_precision_and_recall_without_cases() -> None:
    nothing_predicted, nothing_right = metrics.Precision(), metrics.Recall()
    nothing_predicted([1, 0], [0.1, 0.2])
    nothing_right([0, 0], [0.9, 0.2])
    assert np.isnan(nothing_predicted.result().numpy())
    assert np.isnan(nothing_right.result().numpy())


def test_confusion_matrix_counts() -> None:
    counts = metrics.ConfusionMatrix(3, name="m")
    counts([[0, 1], [2, 2]], [[0, 2], [2, 1]], weights=[[1], [3]])
    assert counts.result().dtype == ag.int64
    assert counts.result().numpy().tolist() == [[1, 0, 0], [0, 0, 1], [0, 3, 3]]
    with says(
        TypeError,
        "Metric 'm': counts in int64 take weights that are integers; got float32. Make the metric with "
        "dtype='float64'.",
    ):
        counts([0], [0], weights=[0.5])
    with says(ag.errors.InvalidArgumentError, "confusion_matrix: labels must lie in [0, 3); they lie in [3, 3]."):
        counts([3], [0])
    assert counts.result().numpy().sum() == 8


def careful(y: np.ndarray, x: np.ndarray, thresholds: list[float]) -> float:
    """The area of Davis and Goadrich, by adding up precisions of many points between two thresholds."""
    points = [((x > t) & (y == 1)).sum() + 1j * ((x > t) & (y == 0)).sum() for t in thresholds]
    total = 0.0
    for more, fewer in pairwise(points):
        if more.real > fewer.real:
            steps = np.linspace(0, 1, 200_001)[1:]
            middle = fewer + (more - fewer) * (steps - steps[0] / 2)
            total += (middle.real / (middle.real + middle.imag)).mean() * (more.real - fewer.real)
    return total / (y == 1).sum()


def test_careful_interpolation() -> None:
    rng = np.random.default_rng(SEED)
    y, x = probabilities(rng, "float64")
    metric, straight = AUC(None, 9, "PR", "careful_interpolation"), AUC(None, 9, "PR")
    metric(y, x)
    straight(y, x)
    expected = careful(y, x, [-1e-7, *(n / 8 for n in range(1, 8)), 1 + 1e-7])
    np.testing.assert_allclose(metric.result().numpy(), expected, rtol=1e-6, err_msg=f"seed {SEED}")
    assert metric.result().numpy() != straight.result().numpy()
    roc, same = AUC(curve="ROC", summation_method="careful_interpolation"), AUC()
    roc(y, x)
    same(y, x)
    assert roc.result().numpy() == same.result().numpy()


def test_area_needs_both_kinds_of_labels() -> None:
    for labels, of_roc, of_precision in (([1, 1], False, True), ([0, 0], False, False), ([0, 1], True, True)):
        for curve, known in (("ROC", of_roc), ("PR", of_precision)):
            metric = AUC(curve=curve)
            metric(labels, [0.2, 0.7])
            assert np.isfinite(metric.result().numpy()) == known
            assert not known or metric.result().numpy() == 1.0


def test_area_at_the_ends() -> None:
    metric = AUC(num_thresholds=3)
    metric([0, 1, 1], [0.0, 0.5, 1.0])
    assert metric.true_positives.numpy().tolist() == [2, 1, 0]
    assert metric.false_positives.numpy().tolist() == [1, 0, 0]
    assert metric.false_negatives.numpy().tolist() == [0, 1, 2]
    assert metric.true_negatives.numpy().tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("bad", "ends"), [([0.5, 1.5], "0.5, 1.5"), ([-0.5, 1.0], "-0.5, 1.0"), ([np.nan, 0.5], "nan, nan")]
)
def test_area_takes_probabilities(bad: list[float], ends: str) -> None:
    metric = AUC()
    with says(ag.errors.InvalidArgumentError, f"Metric 'AUC': predictions must lie in [0, 1]; they lie in [{ends}]."):
        metric([0, 1], bad)
    assert metric.true_positives.numpy().sum() == 0


def test_area_arguments() -> None:
    for options, text in (
        ({"num_thresholds": 1}, "num_thresholds must be at least 2; got 1."),
        ({"curve": "roc"}, "curve must be one of ROC, PR; got 'roc'."),
        (
            {"summation_method": "simpson"},
            "summation_method must be one of trapezoidal, careful_interpolation, minoring, majoring; got 'simpson'.",
        ),
    ):
        with says(ValueError, f"Metric 'AUC': {text}"):
            AUC(**options)  # type: ignore[arg-type]
