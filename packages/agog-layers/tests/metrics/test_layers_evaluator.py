"""Evaluators: the metrics of a model over a data set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from agog_core.errors import FailedPreconditionError
from agog_layers.metrics import ConfusionMatrix, Mean
from agog_layers.metrics.evaluator import Evaluator, SparseSoftmaxEvaluator
from agog_testing import says


class Model:
    """A model whose data are its batches."""

    def eval_data(self, batch: Any, factor: float = 1.0) -> Any:
        return batch if isinstance(batch, dict) else np.multiply(batch, factor)


class Average(Evaluator):
    """One metric."""

    def __init__(self, model: Any, name: str = "average") -> None:
        super().__init__(model)
        self.average = self.track_metric(Mean(name))

    def call(self, eval_data: Any) -> None:
        self.average(eval_data)


class Heads(Evaluator):
    """A metric, and evaluators in evaluators."""

    def __init__(self, model: Any, depth: int = 2) -> None:
        super().__init__(model)
        self.own = self.track_metric(Mean("sum"))
        self.other = self.track_evaluator("head", Heads(model, depth - 1) if depth else Average(model))

    def call(self, eval_data: Any) -> None:
        self.own(2 * eval_data)
        self.other.call(eval_data)


def numbers(results: dict[str, Any]) -> dict[str, float]:
    return {name: float(result) for name, result in results.items()}


def test_evaluation() -> None:
    evaluator = Average(Model())
    assert numbers(evaluator.evaluate_on_dataset([[1.0, 2.0], [6.0]])) == {"average": 3.0}
    evaluator([15.0])
    assert numbers(evaluator.all_metric_results()) == {"average": 6.0}
    assert numbers(Average(Model()).evaluate_on_dataset([[1.0]], factor=5.0)) == {"average": 5.0}
    assert numbers(Average(Model()).evaluate_on_dataset([[1.0]], 4.0)) == {"average": 4.0}
    assert isinstance(evaluator.model, Model)


def test_evaluators_in_evaluators() -> None:
    evaluator = Heads(Model())
    results = numbers(evaluator.evaluate_on_dataset([[1.0, 2.0], [3.0]]))
    assert results == {"sum": 4.0, "head/sum": 4.0, "head/head/sum": 4.0, "head/head/head/average": 2.0}
    assert [prefix for prefix, _ in evaluator.metrics] == ["", "head/", "head/head/", "head/head/head/"]
    assert [v.name for v in evaluator.metric_variables] == ["sum/numer:0", "sum/denom:0"] * 3 + [
        "average/numer:0",
        "average/denom:0",
    ]
    assert evaluator.track_evaluator("head", evaluator.other) is evaluator.other
    with says(RuntimeError, "Heads.track_evaluator: an evaluator with the prefix 'head' is tracked already."):
        evaluator.track_evaluator("head", Average(Model()))
    with says(TypeError, "Heads.track_evaluator takes a tfe.Evaluator; got 3 of type int."):
        evaluator.track_evaluator("more", 3)  # type: ignore[type-var]


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_softmax(weighted: bool) -> None:
    batches: list[dict[str, Any]] = [
        {"loss": [1.0, 3.0], "label": np.array([0, 1]), "predicted_class": np.array([0, 2], np.int32)},
        {"loss": [2.0], "label": np.array([3]), "predicted_class": np.array([3])},
    ]
    if weighted:
        batches[0]["weights"] = [1.0, 0.0]
    results = numbers(SparseSoftmaxEvaluator(Model()).evaluate_on_dataset(batches))
    assert results == ({"Avg Loss": 1.5, "Accuracy": 1.0} if weighted else {"Avg Loss": 2.0, "Accuracy": 2 / 3})


def test_sparse_softmax_keys() -> None:
    evaluator = SparseSoftmaxEvaluator(Model(), "a", "b", "c", "d")
    evaluator({"a": [1.0, 3.0], "b": [0, 1], "c": [0, 2], "d": [3.0, 1.0]})
    assert numbers(evaluator.all_metric_results()) == {"Avg Loss": 1.5, "Accuracy": 0.75}


def test_metrics_are_tracked_once() -> None:
    evaluator = Average(Model())
    assert evaluator.track_metric(evaluator.average) is evaluator.average
    with says(
        ValueError, "Average.track_metric: a metric named 'average' is tracked already; give this one another name."
    ):
        evaluator.track_metric(Mean("average"))
    with says(
        ValueError,
        "Average.track_metric: metric 'average' was already added to another evaluator, of type Average; make a "
        "metric for each.",
    ):
        Average(Model(), "other").track_metric(evaluator.average)
    with says(TypeError, "Average.track_metric takes a tfe.metrics.Metric; got 3 of type int."):
        evaluator.track_metric(3)  # type: ignore[type-var]


def test_before_init() -> None:
    class Late(Evaluator):
        def __init__(self, evaluator: bool) -> None:
            if evaluator:
                self.track_evaluator("x", Average(Model()))
            else:
                self.track_metric(Mean())

    for evaluator, parts in ((True, "evaluators"), (False, "metrics")):
        with says(RuntimeError, f"Late: call super().__init__(model) in Late.__init__ before {parts} are tracked."):
            Late(evaluator)


def test_what_does_not_work() -> None:
    evaluator = Average(Model())
    with says(NotImplementedError, "Evaluator.call is not implemented; it updates the metrics."):
        Evaluator(Model())([1.0])
    with says(
        RuntimeError,
        "Average.init_variables is not needed in eager execution. To forget what metrics saw: for _, metric in "
        "evaluator.metrics: metric.init_variables().",
    ):
        evaluator.init_variables()
    with says(
        RuntimeError,
        "Average.run_evaluation is not supported in eager execution; evaluate_on_dataset returns the results.",
    ):
        evaluator.run_evaluation(None, None, None)


class Summaries:
    """Keeps what a package for summaries would write."""

    def __init__(self) -> None:
        self.written: list[Any] = []

    def scalar(self, name: str, tensor: Any) -> None:
        self.written.append((name, float(tensor)))

    @contextmanager
    def recorded_in(self, logdir: str) -> Iterator[None]:
        self.written.append(logdir)
        yield
        self.written.append("done")


def test_results_are_written_as_summaries(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Summaries()
    monkeypatch.setattr("agog_core.observers.summaries._summaries", kept)
    mean, table = Mean("a mean"), ConfusionMatrix(2)
    mean([1.0, 2.0])
    table([0, 1], [1, 1])
    for metric in (mean, table):
        metric.result()
        metric.result(write_summary=False)
    assert kept.written == [("a mean", 1.5)]


def test_an_evaluator_writes_summaries_in_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Summaries()
    monkeypatch.setattr("agog_core.observers.summaries._summaries", kept)
    results = Average(Model()).evaluate_on_dataset([[1.0]], summary_logdir="logs")
    (name,) = results
    assert kept.written == ["logs", (name, float(results[name])), "done"]


def test_an_evaluator_without_a_package_for_summaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agog_core.observers.summaries._summaries", None)
    with says(
        FailedPreconditionError,
        "Average.all_metric_results: summary_logdir='logs' asks for summaries, and no package for them is imported; "
        "import agog_summary first.",
    ):
        Average(Model()).evaluate_on_dataset([[1.0]], summary_logdir="logs")
