"""Metrics: sums over batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.checkpointable import listeners
from agog_layers.metrics import Accuracy, Mean, Metric
from agog_testing import says


def test_mean_over_batches() -> None:
    rng = np.random.default_rng(40)
    mean = Mean()
    batches = [rng.normal(size=size) for size in (3, 5, 1)]
    for batch in batches:
        assert mean(batch) is batch
    assert mean.result().dtype == ag.float64
    np.testing.assert_allclose(mean.result().numpy(), np.concatenate(batches).mean(), rtol=1e-13)


@pytest.mark.parametrize("weights", [2.0, [[1.0], [3.0]], [[1.0, 0.0, 2.0]], [[0.0, 0.0, 1.0], [5.0, 0.0, 2.0]]])
def test_weighted_mean(weights: Any) -> None:
    values = np.arange(6.0).reshape(2, 3)
    mean = Mean()
    assert mean(values, weights) == (values, weights)
    np.testing.assert_allclose(mean.result().numpy(), np.average(values, weights=np.broadcast_to(weights, (2, 3))))


def test_no_values_yet() -> None:
    mean = Mean("loss")
    assert np.isnan(mean.result().numpy())
    mean(1.0)
    mean.init_variables()
    assert np.isnan(mean.result().numpy())
    mean([2, 4])
    assert mean.result().numpy() == 3.0


def test_names() -> None:
    mean = Mean("my loss/train")
    assert mean.name == "my loss/train"
    assert [v.name for v in mean.variables] == ["my_loss_train/numer:0", "my_loss_train/denom:0"]
    assert Mean().name == "Mean"
    assert Accuracy().name == "Accuracy"
    assert not any(v.trainable for v in mean.variables)
    assert [v.dtype for v in Mean(dtype="float32").variables] == [ag.float32, ag.float32]


def test_value_computes_the_result() -> None:
    mean = Mean()
    mean(4.0)
    assert mean.value()().numpy() == 4.0
    assert mean.result(write_summary=False).numpy() == 4.0
    with says(ValueError, "Metric 'Mean': write_summary must be True or False; got 'yes'."):
        mean.result("yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("label_type", [np.int32, np.int64, np.uint8, np.float32, np.float64])
def test_accuracy_compares_by_value(label_type: Any) -> None:
    accuracy = Accuracy()
    labels = np.array([0, 1, 2, 3], label_type)
    accuracy(labels, ag.constant([0, 1, 1, 3]))
    accuracy(labels=labels[:1], predictions=ag.constant([1]))
    assert accuracy.result().numpy() == 0.6


def test_weighted_accuracy() -> None:
    accuracy = Accuracy()
    accuracy([1, 2], [1, 0], weights=[3.0, 1.0])
    assert accuracy.result().numpy() == 0.75


def test_accuracy_shapes() -> None:
    accuracy = Accuracy()
    with says(
        ag.errors.InvalidArgumentError,
        "Metric 'Accuracy': labels and predictions must be of one shape; got (2,) and (1, 2).",
    ):
        accuracy([1, 2], [[1, 2]])
    assert np.isnan(accuracy.result().numpy())


def test_weights_must_fit() -> None:
    mean = Mean()
    with says(
        ValueError,
        "Metric 'Mean': weights of shape (3,) can not be broadcast to values of shape (2,); they must be a scalar, or "
        "have "
        "the same rank and in each axis the same size or 1.",
    ):
        mean([1.0, 2.0], [1.0, 2.0, 3.0])


def test_metrics_are_not_on_tapes() -> None:
    mean = Mean()
    v = ag.Variable(3.0)
    with ag.GradientTape() as tape:
        loss = v * v
        mean(loss)
    assert tape.watched_variables() == (v,)
    assert float(tape.gradient(loss, v)) == 6.0


class Largest(Metric):
    """A metric as a user writes it."""

    def build(self, values: Any) -> None:
        self.best = self.add_variable("best", (), "float32", ag.zeros)
        self.add_variable("unused", [2], "int64", "ones")

    def call(self, values: Any) -> Any:
        self.best.assign(ag.maximum(self.best, ag.reduce_max(values)))
        return values

    def result(self) -> Any:
        return self.best.value()


def test_own_metric() -> None:
    heard: list[int] = []
    largest = Largest()
    assert largest.variables == []
    listener = lambda *news: heard.append(len(largest.variables))  # noqa: E731
    listeners.append(listener)
    try:
        largest([1.0, 5.0])
    finally:
        listeners.remove(listener)
    assert heard[-1] == 2
    largest([3.0])
    assert largest.result().numpy() == 5.0
    assert largest.variables[1].numpy().tolist() == [1, 1]
    with says(RuntimeError, "Metric 'Largest': add_variable can only be called in build()."):
        largest.add_variable("late")
    with says(NotImplementedError, "Metric.call is not implemented; it takes a batch into account."):
        Metric("m")(1)
    with says(NotImplementedError, "Metric.result is not implemented; it computes the metric from the variables."):
        Metric("m").result()


def test_checkpoint_dependencies() -> None:
    mean, largest = Mean(), Largest()
    assert mean.checkpoint_dependencies() == {"numer": mean.numer, "denom": mean.denom}
    assert largest.checkpoint_dependencies() == {}
    largest([1.0])
    assert largest.checkpoint_dependencies() == {"best": largest.best, "unused": largest.variables[1]}


def test_aggregate() -> None:
    metrics = [Mean("m") for _ in range(3)]
    for n, metric in enumerate(metrics):
        metric([float(n), 1.0])
    metrics[0].aggregate(metrics[1:])
    assert metrics[0].result().numpy() == 1.0
    assert metrics[0].denom.numpy() == 6
    assert metrics[1].denom.numpy() == 2
    metrics[1].aggregate(metrics[1:])
    assert (metrics[1].numer.numpy(), metrics[1].denom.numpy()) == (7.0, 6.0)
    metrics[2].aggregate([])
    assert metrics[2].denom.numpy() == 2
    with says(TypeError, "Metric 'm': aggregate takes metrics of type Mean; got Accuracy."):
        metrics[0].aggregate([Accuracy("m")])
    with says(
        ValueError,
        "Metric 'm': aggregate takes metrics with the variables ['m/numer:0', 'm/denom:0']; got ['n/numer:0', "
        "'n/denom:0'].",
    ):
        metrics[0].aggregate([Mean("n")])
