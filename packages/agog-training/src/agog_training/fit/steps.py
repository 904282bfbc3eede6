"""Steps: the steps of a model on a batch, for subclasses to override."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core import GradientTape, Variable, convert_to_tensor, nest
from agog_core.replicas import Replicas, among, replicas_of_step
from agog_core.tracers import present_tracer
from agog_optimizers import LossScaleOptimizer, Optimizer
from agog_training.fit.batches import Batch
from agog_training.fit.inputs import inputs_of, outputs_of
from agog_training.fit.objective import Objective
from agog_training.fit.shares import gathered, step_of
from agog_training.fit.traced_steps import TracedSteps
from agog_training.fit.trainable import Gradients, Trainable

__all__ = ["Steps"]

Results = dict[str, float]


class Steps:
    """The part of a model that takes batches, one at a time."""

    _on_gradients: Callable[[Gradients], None] | None = None
    _compiled: TracedSteps | None = None

    @property
    def metrics(self: Trainable) -> list[Any]:
        """The losses and metrics of `compile`, and those in attributes: each has ``name``, ``update_state`` and
        ``result``, for a ``train_step`` of the program's own."""
        objective: Objective | None = vars(self).get("_objective")
        own = [part for part in vars(self).values() if hasattr(part, "update_state") and hasattr(part, "result")]
        return own if objective is None else [*objective.means, *objective.metrics, *own]

    @property
    def compiled_loss(self: Trainable) -> Callable[..., Any]:
        """The loss of `compile`, which a ``train_step`` of TensorFlow 2 calls with labels and outputs."""
        return self.objective.compiled_loss

    @property
    def compiled_metrics(self: Trainable) -> Objective:
        """The metrics of `compile`, which a ``train_step`` of TensorFlow 2 updates with labels and outputs."""
        return self.objective

    def reset_metrics(self: Trainable) -> None:
        """Reset the losses and metrics, also those in ``metrics`` of a subclass; `fit` and `evaluate` do so before each
        epoch.
        """
        for metric in self.metrics if isinstance(self.metrics, (list, tuple)) else ():
            reset = getattr(metric, "reset_state", None) or getattr(metric, "reset_states", None)
            if reset is not None:
                reset()

    def compute_loss(
        self: Trainable,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Any:
        """Compute the loss that `compile` was told, with the model's own terms, for a ``train_step`` of one's own.

        Args:
            x: the inputs, which only overrides need.
            y: the labels.
            y_pred: the outputs.
            sample_weight: the weights of the examples; None for 1.
            training: accepted, for overrides.

        Returns:
            A scalar tensor.
        """
        answers = self.objective.match(y_pred, Batch(x, y, sample_weight))
        return self.objective.losses(answers, self.losses)["loss"]

    def train_step(self: Trainable, data: Any) -> dict[str, Any]:
        """Take a step by a batch: `fit` and `train_on_batch` call it, and derived classes may say how.

        Args:
            data: the batch, in tensors: (x, y) or (x, y, sample_weight); without labels x alone, in a tuple where it is
                one itself.

        Returns:
            Names to numbers, such as ``{"loss": loss}``: what the progress bar shows, callbacks are told, and the
            history gets from an epoch's last batch. For losses of `compile`, which this method computes, the history
            has their means. What an attribute or property ``metrics`` lists is reset before each epoch.

        >>> import agog_core as ag
        >>> from agog_layers import Dense
        >>> from agog_training import Model
        >>> class Clipped(Model):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.dense = Dense(1, kernel_initializer="zeros")
        ...
        ...     def call(self, inputs):
        ...         return self.dense(inputs)
        ...
        ...     def train_step(self, data):
        ...         x, y = data
        ...         with ag.GradientTape() as tape:
        ...             loss = ag.reduce_mean(ag.square(self(x) - y))
        ...         variables = self.trainable_variables
        ...         gradients, _ = ag.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
        ...         self.optimizer.apply_gradients(zip(gradients, variables))
        ...         return {"loss": loss}
        >>> model = Clipped()
        >>> model.compile("sgd")
        >>> model.fit(ag.eye(2), ag.ones([2, 1]), verbose=0).history
        {'loss': [1.0]}
        """
        return _trained_on(self, _batch_of(data))

    def test_step(self: Trainable, data: Any) -> dict[str, Any]:
        """Compute the losses and metrics of a batch: `evaluate`, `test_on_batch` and validation call it.

        Args:
            data: see `train_step`.

        Returns:
            Names to numbers; see `train_step`.
        """
        return _tested_on(self, _batch_of(data))

    def predict_step(self: Trainable, data: Any) -> Any:
        """Compute the outputs of a batch: `predict` and `predict_on_batch` call it.

        Args:
            data: the inputs, in tensors.

        Returns:
            A tensor, or a structure of them.
        """
        return outputs_of(self, data)


def stepped(model: Trainable, name: str, batch: Batch) -> Results:
    """The results of ``train_step`` or ``test_step`` on a batch, as numbers; raises TypeError if they are no dict."""
    if model._replicas is None:
        return _stepped(model, name, batch)
    with step_of(model, batch, model._replicas) as own:
        return _stepped(model, name, own)


def _stepped(model: Trainable, name: str, batch: Batch) -> Results:
    step = getattr(type(model), name)
    if step is Steps.train_step:
        return _trained_on(model, batch)
    if step is Steps.test_step:
        return _tested_on(model, batch)
    found = _run(model, step, _data_of(model, batch))
    if not nest.is_mapping(found):
        raise TypeError(
            f"Model {model.name!r}: {name} must return a dict of names to numbers; got {found!r} of type "
            f"{type(found).__name__}."
        )
    if (replicas := replicas_of_step()) is not None:  # so that all processes see the same
        found = {key: replicas.all_reduce(value, "mean") for key, value in found.items()}
    return {key: float(value) for key, value in found.items()}


def predicted(model: Trainable, batch: Batch) -> Any:
    """The results of ``predict_step`` on inputs, in tensors."""
    if model._replicas is None:
        return _predicted(model, batch.x)
    with step_of(model, batch, model._replicas) as own:
        return gathered(_predicted(model, own.x), own.rows, model._replicas)


def _predicted(model: Trainable, x: Any) -> Any:
    step = type(model).predict_step
    if step is Steps.predict_step:
        return _run(model, outputs_of, x)
    return nest.map_structure(convert_to_tensor, _run(model, step, inputs_of(model, x)))


def _run(model: Trainable, step: Callable[..., Any], *args: Any) -> Any:
    """What ``step(model, *args)`` returns; traced, where `compile` was told so."""
    return step(model, *args) if model._compiled is None else model._compiled(model, step, *args)


def _trained_on(model: Trainable, batch: Batch) -> Results:
    """Take a step by a batch; the losses of the batch, and the metrics so far."""
    answers, losses, gradients, variables = _run(model, _train, *batch)
    if model._on_gradients is not None:
        variables = variables_to_train(model) if variables is None else variables
        model._on_gradients(list(zip(gradients, variables, strict=True)))
    return model.objective.update(answers, losses, batch.size)


def _train(model: Trainable, x: Any, y: Any, weights: Any) -> tuple[Any, ...]:
    """Take a step; the outputs with their labels, the losses, the gradients, and the variables that these are of: None
    if the step is traced, since it would return their values."""
    objective, optimizer = model.objective, model.optimizer
    scales = isinstance(optimizer, LossScaleOptimizer)
    replicas = replicas_of_step()
    with _tape(optimizer, replicas) as tape:
        tape.watch(model._trained or ())
        answers = objective.match(outputs_of(model, x, training=True), Batch(x, y, weights))
        losses = objective.losses(answers, model.losses)
        loss = optimizer.get_scaled_loss(losses["loss"]) if scales else losses["loss"]
    variables = variables_to_train(model)
    gradients = tape.gradient(loss, variables)
    if scales:
        gradients = optimizer.get_unscaled_gradients(gradients)
    if variables and replicas is None:
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
    elif variables:
        with among(None):  # the tape has summed the gradients
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
    return answers, losses, gradients, variables if present_tracer() is None else None


def _tape(optimizer: Any, replicas: Replicas | None) -> GradientTape:
    """What the loss of a step is recorded on, whose gradients the optimizer takes as they are."""
    if replicas is not None:
        return replicas.gradient_tape()
    return optimizer.gradient_tape() if isinstance(optimizer, Optimizer) else GradientTape()


def _tested_on(model: Trainable, batch: Batch) -> Results:
    """The losses of a batch, and the metrics so far."""
    answers, losses = _run(model, _test, *batch)
    return model.objective.update(answers, losses, batch.size)


def _test(model: Trainable, x: Any, y: Any, weights: Any) -> tuple[Any, ...]:
    answers = model.objective.match(outputs_of(model, x), Batch(x, y, weights))
    return answers, model.objective.losses(answers, model.losses)


def variables_to_train(model: Trainable) -> list[Variable]:
    """The variables that were trainable when the model was compiled, or are now if there were none then; a ValueError
    if all are frozen, and a warning if the model has none or `trainable` has changed.
    """
    variables, trained = model.trainable_variables, model._trained
    if trained is not None:
        if {id(variable) for variable in variables} != {id(variable) for variable in trained}:
            warnings.warn(
                f"Model {model.name!r}: trainable was changed since the model was compiled, which changes nothing "
                "before compile is called again.",
                UserWarning,
                stacklevel=2,
            )
        return trained
    if variables:
        return variables
    count = len(model.variables)
    if not count:  # as of layers that only add a loss
        text = f"Model {model.name!r} has no variables, so there is nothing to train."
        warnings.warn(text, UserWarning, stacklevel=2)
        return []
    whose = "its layers" if model.trainable else "the model"
    raise ValueError(
        f"Model {model.name!r}: none of its {count} variables is to be trained, since trainable is False in {whose}. "
        "Set it to True, or call evaluate."
    )


def _data_of(model: Trainable, batch: Batch) -> Any:
    """The data of steps: x, (x, y) or (x, y, sample_weight), in tensors; floats of x take the model's dtype."""
    x, y, weights = inputs_of(model, batch.x), _tensors(batch.y), _tensors(batch.weights)
    if weights is not None:
        return x, y, weights
    return (x, y) if y is not None else (x,) if isinstance(x, tuple) else x


def _batch_of(data: Any) -> Batch:
    return Batch(*data) if isinstance(data, tuple) else Batch(data)


def _tensors(part: Any) -> Any:
    return nest.map_structure(lambda leaf: convert_to_tensor(leaf) if isinstance(leaf, np.ndarray) else leaf, part)
