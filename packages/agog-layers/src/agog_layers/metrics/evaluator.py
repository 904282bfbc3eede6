"""Evaluators: the metrics of a model, over the batches of a data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from agog_core import Variable
from agog_core.errors import FailedPreconditionError
from agog_core.observers.summaries import registered_summaries
from agog_core.settable import Settable
from agog_layers.metrics import Accuracy, Mean, Metric

__all__ = ["Evaluator", "SparseSoftmaxEvaluator"]

_Metric = TypeVar("_Metric", bound=Metric)
_Evaluator = TypeVar("_Evaluator", bound="Evaluator")


class Evaluator(Settable):
    """Base of evaluators. Subclasses track metrics in ``__init__``, and update them in `call`.

    Args:
        model: an object whose method ``eval_data`` takes a batch, and returns what `call` takes.

    >>> class Size(Evaluator):
    ...     def __init__(self, model):
    ...         super().__init__(model)
    ...         self.size = self.track_metric(Mean("size"))
    ...
    ...     def call(self, eval_data):
    ...         self.size(eval_data)
    >>> class Model:
    ...     def eval_data(self, batch):
    ...         return [len(batch)]
    >>> evaluator = Size(Model())
    >>> print(evaluator.evaluate_on_dataset([[1, 2, 3], [4]])["size"])
    tf.Tensor(2.0, shape=(), dtype=float64)
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._metrics: dict[str, Metric] = {}
        self._evaluators: dict[str, Evaluator] = {}

    @property
    def model(self) -> Any:
        """The model."""
        return self._model

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Take a batch into account: `call` what the model's ``eval_data`` returns for the arguments."""
        return self.call(self._model.eval_data(*args, **kwargs))

    def call(self, eval_data: Any) -> Any:
        """Update the metrics with a batch; subclasses say how.

        Args:
            eval_data: what the model's ``eval_data`` returned for the batch.

        Returns:
            Whatever the subclass returns; it is not used.
        """
        raise NotImplementedError(f"{type(self).__name__}.call is not implemented; it updates the metrics.")

    def track_metric(self, metric: _Metric) -> _Metric:
        """Let `all_metric_results` have a metric's result.

        Args:
            metric: a metric that no other evaluator tracks.

        Returns:
            The metric.

        Raises:
            RuntimeError: ``__init__`` of this class was not called before.
            TypeError: it is no metric.
            ValueError: another metric has the name, or another evaluator tracks the metric.
        """
        self._check_initialized("metrics")
        what = type(self).__name__
        if not isinstance(metric, Metric):
            raise TypeError(f"{what}.track_metric takes a tfe.metrics.Metric; got {metric!r} of type {_type(metric)}.")
        if self._metrics.get(metric.name) is metric:
            return metric
        if metric.name in self._metrics:
            raise ValueError(
                f"{what}.track_metric: a metric named {metric.name!r} is tracked already; give this one another name."
            )
        owner = vars(metric).get("_evaluator")
        if owner is not None:
            raise ValueError(
                f"{what}.track_metric: metric {metric.name!r} was already added to another evaluator, of type "
                f"{owner}; make a metric for each."
            )
        vars(metric)["_evaluator"] = what
        self._metrics[metric.name] = metric
        return metric

    def track_evaluator(self, prefix: str, evaluator: _Evaluator) -> _Evaluator:
        """Let `all_metric_results` have the results of another evaluator, whose `call` this one's calls.

        Args:
            prefix: what the names of its metrics begin with, before a slash.
            evaluator: the other evaluator.

        Returns:
            The other evaluator.

        Raises:
            RuntimeError: ``__init__`` of this class was not called before, or another evaluator has the prefix.
            TypeError: it is no evaluator.
        """
        self._check_initialized("evaluators")
        what = type(self).__name__
        if not isinstance(evaluator, Evaluator):
            raise TypeError(
                f"{what}.track_evaluator takes a tfe.Evaluator; got {evaluator!r} of type {_type(evaluator)}."
            )
        if self._evaluators.setdefault(prefix, evaluator) is not evaluator:
            raise RuntimeError(f"{what}.track_evaluator: an evaluator with the prefix {prefix!r} is tracked already.")
        return evaluator

    def all_metric_results(self, summary_logdir: str | None = None) -> dict[str, Any]:
        """The results of all metrics.

        Args:
            summary_logdir: the folder of a new event file for the results, which are of the global step; None for no
                file.

        Returns:
            Names of metrics, after the prefixes of their evaluators, to tensors.

        Raises:
            FailedPreconditionError: ``summary_logdir`` is given, and no package for summaries is imported.
        """
        if summary_logdir is not None:
            summaries = registered_summaries()
            if summaries is None:
                raise FailedPreconditionError(
                    f"{type(self).__name__}.all_metric_results: summary_logdir={summary_logdir!r} asks for summaries, "
                    "and no package for them is imported; import agog_summary first."
                )
            with summaries.recorded_in(summary_logdir):
                return self.all_metric_results()
        return {prefix + metric.name: metric.result() for prefix, metric in self.metrics}

    def evaluate_on_dataset(
        self, dataset: Iterable[Any], *args: Any, summary_logdir: str | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Take all batches of a data set into account.

        Args:
            dataset: the batches.
            *args: further arguments of the model's ``eval_data``.
            Other arguments: see `all_metric_results`.

        Returns:
            The results, as `all_metric_results` gives them.

        Raises:
            FailedPreconditionError: ``summary_logdir`` is given, and no package for summaries is imported.
        """
        for batch in dataset:
            self(batch, *args, **kwargs)
        return self.all_metric_results(summary_logdir)

    def init_variables(self) -> None:
        """Raise a RuntimeError: variables have values as soon as they exist."""
        raise RuntimeError(
            f"{type(self).__name__}.init_variables is not needed in eager execution. To forget what metrics saw: "
            "for _, metric in evaluator.metrics: metric.init_variables()."
        )

    def run_evaluation(self, *args: Any, **kwargs: Any) -> None:
        """Raise a RuntimeError: there are no sessions."""
        raise RuntimeError(
            f"{type(self).__name__}.run_evaluation is not supported in eager execution; evaluate_on_dataset returns "
            "the results."
        )

    @property
    def metrics(self) -> list[tuple[str, Metric]]:
        """Pairs of a prefix, empty or with a slash at its end, and a metric: this evaluator's, then those of others."""
        own = [("", metric) for metric in self._metrics.values()]
        return own + [(f"{prefix}/{rest}", m) for prefix, e in self._evaluators.items() for rest, m in e.metrics]

    @property
    def metric_variables(self) -> list[Variable]:
        """The variables of all metrics."""
        return [variable for _, metric in self.metrics for variable in metric.variables]

    def _check_initialized(self, parts: str) -> None:
        if "_metrics" not in vars(self):
            name = type(self).__name__
            raise RuntimeError(f"{name}: call super().__init__(model) in {name}.__init__ before {parts} are tracked.")


class SparseSoftmaxEvaluator(Evaluator):
    """The average loss, and how often the class is right, of a model whose examples are of one class each.

    Args:
        model: an object whose method ``eval_data`` takes a batch, and returns a dict.
        loss_key: the dict's key of the losses.
        label_key: the dict's key of the right classes.
        predicted_class_key: the dict's key of the predicted classes.
        weights_key: the dict's key of weights, which it need not have.

    >>> class Model:
    ...     def eval_data(self, batch):
    ...         return {"loss": [0.5, 1.5], "label": batch, "predicted_class": [0, 1]}
    >>> results = SparseSoftmaxEvaluator(Model()).evaluate_on_dataset([[0, 1], [0, 0]])
    >>> {name: float(result) for name, result in results.items()}
    {'Avg Loss': 1.0, 'Accuracy': 0.75}
    """

    def __init__(
        self,
        model: Any,
        loss_key: str = "loss",
        label_key: str = "label",
        predicted_class_key: str = "predicted_class",
        weights_key: str = "weights",
    ) -> None:
        super().__init__(model)
        self.avg_loss = self.track_metric(Mean("Avg Loss"))
        self.accuracy = self.track_metric(Accuracy())
        self.loss_key = loss_key
        self.label_key = label_key
        self.predicted_class_key = predicted_class_key
        self.weights_key = weights_key

    def call(self, eval_data: Mapping[str, Any]) -> None:
        """Update the metrics with the losses, the right and the predicted classes, and weights or none."""
        weights = eval_data.get(self.weights_key)
        self.avg_loss(eval_data[self.loss_key], weights=weights)
        self.accuracy(eval_data[self.label_key], eval_data[self.predicted_class_key], weights=weights)


def _type(value: Any) -> str:
    return type(value).__name__
