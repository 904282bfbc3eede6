"""Steps: what a model does with a batch, which derived classes may say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core import convert_to_tensor, nest
from agog_training.fit import epochs as loop
from agog_training.fit.batches import Batch
from agog_training.fit.listed import CompiledLoss, CompiledMetrics, listed_metrics
from agog_training.fit.traced_steps import Compiled

__all__ = ["Steps"]


class Steps:
    """The part of a model that takes batches, one at a time."""

    # Takes the gradients of each step, while `fit` runs.
    _on_gradients: Callable[[Any], None] | None = None
    # Runs the steps as traced functions; None where they are called as they are.
    _compiled: Compiled | None = None

    def _step(self, name: str, batch: Batch) -> loop.Results:
        """What ``train_step`` or ``test_step`` makes of a batch, as numbers; raises TypeError where that is no dict."""
        if getattr(type(self), name) is getattr(Steps, name):
            plain: loop.Results = getattr(loop, name)(self, batch)
            return plain
        found = self._run(getattr(type(self), name), _data_of(self, batch))
        if not nest.is_mapping(found):
            raise TypeError(
                f"Model {self.name!r}: {name} must return a dict of names to numbers; got {found!r} of type "  # type: ignore[attr-defined]
                f"{type(found).__name__}."
            )
        return {key: float(value) for key, value in found.items()}

    def _predict(self, x: Any) -> Any:
        """What ``predict_step`` makes of inputs, in tensors."""
        if type(self).predict_step is Steps.predict_step:
            return self._run(_outputs, x)
        return nest.map_structure(convert_to_tensor, self._run(type(self).predict_step, loop.inputs_of(self, x)))

    def _run(self, step: Callable[..., Any], *args: Any) -> Any:
        """What ``step(self, *args)`` returns; traced, where `compile` was told so."""
        return step(self, *args) if self._compiled is None else self._compiled(self, step, *args)

    @property
    def metrics(self) -> list[Any]:
        """The losses and metrics of `compile`, and those in attributes: each has ``name``, ``update_state`` and
        ``result``, for a ``train_step`` of the program's own."""
        return listed_metrics(self)

    @property
    def compiled_loss(self) -> CompiledLoss:
        """The loss of `compile`, which a ``train_step`` of TensorFlow 2 calls with labels and outputs."""
        return CompiledLoss(self.objective)  # type: ignore[attr-defined]  # the model's

    @property
    def compiled_metrics(self) -> CompiledMetrics:
        """The metrics of `compile`, which a ``train_step`` of TensorFlow 2 updates with labels and outputs."""
        return CompiledMetrics(self.objective)  # type: ignore[attr-defined]  # the model's

    def reset_metrics(self) -> None:
        """Forget what the losses and metrics have seen, also those that a derived model lists in ``metrics``; `fit` and
        `evaluate` do so before each epoch."""
        for metric in self.metrics if isinstance(self.metrics, (list, tuple)) else ():
            reset = getattr(metric, "reset_state", None) or getattr(metric, "reset_states", None)
            if reset is not None:
                reset()

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
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
        objective = self.objective  # type: ignore[attr-defined]  # the model's
        answers = objective.match(y_pred, Batch(x, y, sample_weight))
        return objective.losses(answers, self.losses)["loss"]  # type: ignore[attr-defined]  # the model's

    def train_step(self, data: Any) -> dict[str, Any]:
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
        return loop.train_step(self, _batch_of(data))

    def test_step(self, data: Any) -> dict[str, Any]:
        """Compute the losses and metrics of a batch: `evaluate`, `test_on_batch` and validation call it.

        Args:
            data: see `train_step`.

        Returns:
            Names to numbers; see `train_step`.
        """
        return loop.test_step(self, _batch_of(data))

    def predict_step(self, data: Any) -> Any:
        """Compute the outputs of a batch: `predict` and `predict_on_batch` call it.

        Args:
            data: the inputs, in tensors.

        Returns:
            A tensor, or a structure of them.
        """
        return loop.run(self, data, training=False)


def _outputs(model: Any, x: Any) -> Any:
    return loop.run(model, x, training=False)


def _data_of(model: Any, batch: Batch) -> Any:
    """What steps take: x, (x, y) or (x, y, sample_weight), in tensors; floats of x take the model's dtype."""
    x, y, weights = loop.inputs_of(model, batch.x), _tensors(batch.y), _tensors(batch.weights)
    if weights is not None:
        return x, y, weights
    return (x, y) if y is not None else (x,) if isinstance(x, tuple) else x


def _batch_of(data: Any) -> Batch:
    return Batch(*data) if isinstance(data, tuple) else Batch(data)


def _tensors(part: Any) -> Any:
    return nest.map_structure(lambda leaf: convert_to_tensor(leaf) if isinstance(leaf, np.ndarray) else leaf, part)
