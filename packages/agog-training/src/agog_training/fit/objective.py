"""Objective: the losses and metrics of `compile`, by output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from weakref import ref

from agog_core import Tensor, TensorLike, cast, convert_to_tensor, div_no_nan, expand_dims, nest, reduce_mean
from agog_core.replicas import replicas_of_step
from agog_core.settable import has_changed, note
from agog_core.tracers import tracing
from agog_layers.calls.masks import known, mask_of
from agog_layers.losses import lookup as keras_losses
from agog_layers.naming.names import UniqueNames
from agog_training.fit.batches import Batch
from agog_training.fit.labels import check_shapes, compared, compared_with
from agog_training.fit.late_results import LateResults
from agog_training.fit.meters import Answer, Meter, at_each_step, is_late, make_meter, read_at_once, weighted_sums
from agog_training.fit.shares import loss_shares, of_whole_batch

Loss = Callable[[Any, Any], Any]

# Losses and metrics of what has these dtypes are computed in float32: half precision is too coarse for sums.
_HALVES = ("float16", "bfloat16")


class Objective:
    """The losses and metrics of the model called ``model``; for the arguments see `Model.compile`.

    The names of the outputs are None if they are not known before the first batch. Raises ValueError if there are
    more or fewer losses or metrics than outputs, or one is of no output.
    """

    def __init__(
        self,
        model: str,
        names: Sequence[str] | None,
        losses: Any,
        loss_weights: Any,
        metrics: Any,
        weighted_metrics: Any = None,
    ) -> None:
        self._model, self._losses, self._loss_weights = model, losses, loss_weights
        _check_kind("metrics", metrics)
        _check_kind("weighted_metrics", weighted_metrics)
        self._given_metrics = {False: metrics, True: weighted_metrics}
        self._outputs: list[tuple[str, Loss | None, float]] = []
        # The position of an output, and a loss or metric with a shape rule for its labels.
        self._compared: list[tuple[int, str]] = []
        self.names: list[str] = []
        self._rows: int | None = None  # see `take`
        # The means of the losses, and the metrics.
        self.means, self.metrics = [Meter("loss")], list[Meter]()
        # The results of the last batch that nobody has looked at, while somebody has them.
        self._late_results: ref[LateResults] | None = None
        if names is not None:
            self._bind(list(names))
        else:
            self._check()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_late_results": None}  # copies have no batch

    def take(self, rows: int | None) -> None:
        """Learn how many rows of the next batch count: those of this process, where several share it."""
        if rows != self._rows:
            self._rows = rows
            has_changed(self, "_rows")

    @property
    def given(self) -> dict[str, Any]:
        """The arguments of `Model.compile`: losses, metrics and weights, by name."""
        return {
            "loss": self._losses,
            "metrics": self._given_metrics[False],
            "loss_weights": self._loss_weights,
            "weighted_metrics": self._given_metrics[True],
        }

    def _check(self) -> None:
        """Find the losses and metrics, so that an unknown one is an error now and not at the first batch."""
        for loss in _each(self._losses):
            keras_losses.get(loss)
        for given in self._given_metrics.values():
            for metric in _each(given):
                make_meter(metric, None, "")

    def _bind(self, names: list[str]) -> None:
        """Give each output its loss and metrics."""
        losses = self._by_output("loss", self._losses, names)
        weights = self._by_output("loss_weights", self._loss_weights, names)
        self._outputs = [
            (name, None if loss is None else keras_losses.get(loss), 1.0 if weight is None else float(weight))
            for name, loss, weight in zip(names, losses, weights, strict=True)
        ]
        several = len(names) > 1
        self.means = [Meter("loss"), *(Meter(f"{name}_loss") for name in names if several)]
        wanted = [
            (position, metric, weighted)
            for weighted, given in self._given_metrics.items()
            for position, metrics in enumerate(self._metrics_of(given, names))
            for metric in metrics
        ]
        wanted = self._each_its_own(wanted)
        unique, taken = UniqueNames(), [mean.name for mean in self.means]
        self.metrics = []
        for position, metric, weighted in wanted:
            prefix = f"{names[position]}_" if several else ""
            meter = make_meter(metric, self._outputs[position][1], prefix, weighted)
            meter.name, meter.output, meter.match = unique.unique(meter.name, taken), position, self.match
            taken.append(meter.name)
            self.metrics.append(meter)
        every = [
            *((n, loss) for n, (_, loss, _) in enumerate(self._outputs)),
            *((n, metric) for n, metric, _ in wanted),
        ]
        self._compared = [(position, name) for position, each in every if (name := compared(each)) is not None]
        self.names = names

    def _by_output(self, what: str, given: Any, names: list[str]) -> list[Any]:
        if nest.is_mapping(given):
            unknown = sorted(set(given) - set(names))
            if unknown:
                raise ValueError(f"Model {self._model!r}: {what} has {unknown}, but the outputs are {names}.")
            return [given.get(name) for name in names]
        if isinstance(given, (list, tuple)):
            if len(given) != len(names):
                raise ValueError(
                    f"Model {self._model!r}: {what} has {len(given)} entries; there are {len(names)} outputs: {names}."
                )
            return list(given)
        return [given] * len(names)

    def _metrics_of(self, given: Any, names: list[str]) -> list[list[Any]]:
        each = list(given) if isinstance(given, (list, tuple)) else []
        if nest.is_mapping(given) or (each and all(isinstance(part, (list, tuple)) for part in each)):
            return [_listed(metrics) for metrics in self._by_output("metrics", given, names)]
        return [_listed(given) for _ in names]

    def _each_its_own(self, wanted: list[tuple[int, Any, bool]]) -> list[tuple[int, Any, bool]]:
        """The metrics, each object for one output: others get objects like it."""
        seen: set[int] = set()
        found = []
        for position, metric, weighted in wanted:
            if id(metric) in seen and hasattr(metric, "result") and not isinstance(metric, type):
                try:
                    metric = type(metric).from_config(metric.get_config())
                except (AttributeError, NotImplementedError):
                    raise ValueError(
                        f"Model {self._model!r}: the metric {metric!r} adds up one output, and cannot be made anew for "
                        "another one, since it has no description; give each output its own: metrics={output: [...]}."
                    ) from None
            seen.add(id(metric))
            found.append((position, metric, weighted))
        return found

    def losses(self, answers: Sequence[Answer], penalties: Sequence[Tensor]) -> dict[str, Tensor]:
        """The losses of a batch by name: ``"loss"``, to be minimized, then those of the outputs if there are several.

        The penalties are further terms, of regularizers and `add_loss`. Raises ValueError if there is no term.
        """
        each: dict[str, Tensor] = {}
        terms: list[Any] = []
        losses = [loss for _, loss, _ in self._outputs]
        shares = None if replicas_of_step() is None else loss_shares(losses, answers, self._own_rows())
        for number, ((name, loss, factor), answer) in enumerate(zip(self._outputs, answers, strict=True)):
            if loss is not None:
                value = _value(loss, answer)
                if shares is not None:
                    value = value * cast(shares[number], value.dtype)
                each[f"{name}_loss"] = value
                terms.append(value if factor == 1 else factor * value)
        terms += penalties if shares is None else [term * cast(shares[-1], term.dtype) for term in penalties]
        if not terms:
            raise ValueError(f"Model {self._model!r} has no loss: name one in compile(loss=...), or use add_loss.")
        total = convert_to_tensor(terms[0])
        for term in terms[1:]:
            total = total + cast(term, total.dtype)
        return {"loss": total} | (each if len(self.names) > 1 else {})

    def _own_rows(self) -> int | None:
        if tracing:
            note(self, "_rows")
        return self._rows

    def update(self, answers: Sequence[Answer], losses: Mapping[str, Tensor], size: int) -> dict[str, Any]:
        """Take a batch into account; the losses of the batch, and the metrics so far. A device is waited for when
        somebody looks at them, or takes another batch into account while somebody has them still.
        """
        if self._late_results is not None and (before := self._late_results()) is not None:
            before.look()
        examples, values = size, dict[str, Any]()
        if replicas_of_step() is None:
            values = {name: loss if is_late(loss) else float(loss) for name, loss in losses.items()}
        else:
            whole, total = of_whole_batch(losses, self._rows, size)
            values, examples = {name: float(loss) for name, loss in whole.items()}, int(total)
        for mean in self.means:
            if mean.name in values:
                mean.add(values[mean.name], examples)
        for metric in self.metrics if self._rows != 0 else ():
            metric.update(answers[metric.output], size if self._rows is None else self._rows)
        if not any(map(is_late, values.values())):
            return values | {metric.name: metric.result() for metric in self.metrics}
        names = [*values, *(metric.name for metric in self.metrics)]
        results = LateResults(names, partial(self._read, values))
        self._late_results = ref(results)
        return results

    def _read(self, losses: Mapping[str, Any]) -> dict[str, float]:
        """The losses of a batch, and the metrics so far, as numbers."""
        numbers = read_at_once([*self.means, *self.metrics], list(losses.values()))
        return dict(zip(losses, numbers, strict=True)) | {metric.name: metric.result() for metric in self.metrics}

    def so_far(self, results: Mapping[str, Any]) -> dict[str, Any]:
        """What the last batch's step has returned, and in place of its losses their means over all examples so far.

        A step that never came to `update` has returned what it means.
        """
        means = {mean.name: mean.result() for mean in self.means if mean.name in results and not mean.is_empty}
        return dict(results) | means

    def reset(self) -> None:
        """Forget all batches."""
        for meter in (*self.means, *self.metrics):
            meter.reset_state()

    def compiled_loss(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Sequence[Any] | None = None
    ) -> Any:
        """The loss of a batch, with further terms, in a step of a program's own; its mean takes it into account."""
        answers = self.match(y_pred, Batch(None, y_true, sample_weight))
        losses = self.losses(answers, regularization_losses or ())
        size = int(answers[0].output.shape[0] or 1)
        whole: Mapping[str, Tensor] = losses
        examples = None
        if replicas_of_step() is not None:
            whole, examples = of_whole_batch(losses, self._own_rows(), size)

        def note_mean(mean: Meter, value: Any, count: Any = None) -> None:
            mean.add(value, size if count is None else float(count))

        for mean in self.means:
            if mean.name in losses:
                at_each_step(partial(note_mean, mean), whole[mean.name], examples)
        return losses["loss"]

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take a batch into account in all metrics, in a step of a program's own."""
        if self._own_rows() == 0:
            return
        for metric in self.metrics:
            metric.update_state(y_true, y_pred, sample_weight=sample_weight)

    @property
    def metrics_names(self) -> list[str]:
        """The names of the results."""
        without = {f"{name}_loss" for name, loss, _ in self._outputs if loss is None}
        return [meter.name for meter in (*self.means, *self.metrics) if meter.name not in without]

    def match(self, outputs: Any, batch: Batch) -> list[Answer]:
        """The outputs with their labels and weights, in order.

        Raises ValueError if the labels do not fit, also where a loss or metric would broadcast them.
        """
        leaves = nest.flatten(outputs)
        if not self.names:
            keys = sorted(outputs) if nest.is_mapping(outputs) else [f"output_{n + 1}" for n in range(len(leaves))]
            self._bind(keys)
        labels = self._spread("labels", batch.y, len(leaves))
        weights = self._spread("sample_weight", batch.weights, len(leaves))
        masks = [mask_of(leaf) if known else None for leaf in leaves]
        leaves = [cast(leaf, "float32") if leaf.dtype in _HALVES else leaf for leaf in leaves]
        answers = [
            Answer(_labels(y, output), output, mask, _weights(weight, mask))
            for y, output, mask, weight in zip(labels, leaves, masks, weights, strict=True)
        ]
        for position, function in self._compared:
            answer = answers[position]
            if answer.y is not None:
                check_shapes(self._model, function, answer.y, answer.output)
        return answers

    def _spread(self, what: str, values: Any, count: int) -> list[Any]:
        if nest.is_mapping(values):
            missing = [name for name, loss, _ in self._outputs if loss is not None and name not in values]
            if missing and what == "labels":
                raise ValueError(f"Model {self._model!r}: no labels for the outputs {missing}; got {sorted(values)}.")
            return [values.get(name) for name in self.names]
        if what == "labels" and values is not None:
            values = self._only_where_needed(values)
        if isinstance(values, (list, tuple)):
            if len(values) != count:
                raise ValueError(
                    f"Model {self._model!r}: {what} has {len(values)} parts; there are {count} outputs: {self.names}."
                )
            return list(values)
        if count > 1 and what == "labels" and values is not None:
            raise ValueError(
                f"Model {self._model!r}: there are {count} outputs, {self.names}, so labels must be a list or dict; "
                f"got one array of shape {convert_to_tensor(values).shape}."
            )
        return [values] * count

    def _only_where_needed(self, labels: Any) -> Any:
        """Labels for all outputs, if there are some for those with a loss or metric alone."""
        given = list(labels) if isinstance(labels, (list, tuple)) else [labels]
        measured = {metric.output for metric in self.metrics}
        needed = [loss is not None or position in measured for position, (_, loss, _) in enumerate(self._outputs)]
        if all(needed) or len(given) != sum(needed):
            return labels
        return [given.pop(0) if wanted else None for wanted in needed]


def weighted_mean(losses: TensorLike, weights: TensorLike) -> Tensor:
    """The mean of losses of shape (batch, ...), or a scalar; 0 where the weights add up to 0.

    The weights have the shape (batch,) or that of the losses; None is 1. Raises ValueError if there are weights and
    the losses are one number already.

    >>> print(weighted_mean([1.0, 2.0, 6.0], [1.0, 1.0, 0.0]))
    tf.Tensor(1.5, shape=(), dtype=float32)
    """
    values = convert_to_tensor(losses)
    if weights is None:
        return values if values.ndim == 0 else reduce_mean(values)
    if values.ndim == 0:
        raise ValueError(
            "sample_weight and class_weight need a loss that gives one number for each example, as those of "
            "tf.keras.losses do; this one gives one for the batch."
        )
    weighted, count = weighted_sums(values, weights)
    return div_no_nan(weighted, count)


def _value(loss: Any, answer: Answer) -> Any:
    """The loss of a batch: a loss object makes one number itself."""
    y, output, _, weights = answer
    if hasattr(loss, "reduction"):
        return compared_with(loss, y, output, weights)
    return weighted_mean(compared_with(loss, y, output), weights)


def _weights(weights: Any, mask: Any) -> Any:
    """The weights of examples, and 0 for the steps that a mask leaves out."""
    if mask is None or weights is None:
        return weights if mask is None else mask
    return cast(mask, "float32") * expand_dims(cast(weights, "float32"), -1)


def _labels(y: Any, output: Any) -> Any:
    """Labels as a tensor: floats of the output's dtype, and with the output's last axis of size 1."""
    if y is None:
        return None
    labels = convert_to_tensor(y)
    if output.ndim == labels.ndim + 1 and output.shape[-1] == 1:
        labels = expand_dims(labels, -1)
    both_floats = labels.dtype.is_floating and output.dtype.is_floating
    return cast(labels, output.dtype) if both_floats else labels


def _check_kind(what: str, given: Any) -> None:
    """Raise TypeError for metrics that are no list, dict or name."""
    if not (given is None or isinstance(given, (list, tuple, str)) or nest.is_mapping(given)):
        raise TypeError(
            f"Type of `{what}` argument not understood. Expected a list or dictionary, found: {given!r}. Write "
            f"{what}=[...] around it."
        )


def _each(given: Any) -> list[Any]:
    """The losses or metrics in a structure of them, without None."""
    return [each for each in nest.flatten(given) if each is not None]


def _listed(metrics: Any) -> list[Any]:
    if metrics is None:
        return []
    return list(metrics) if isinstance(metrics, (list, tuple)) else [metrics]
