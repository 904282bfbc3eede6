"""Model: a model of layers with `fit`, `evaluate` and `predict`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import agog_layers
from agog_core import Variable, nest
from agog_core.replicas import Replicas, among, present_replicas
from agog_core.settable import has_changed
from agog_training import optimizers
from agog_training.arguments import QUEUES, check_arguments, check_modes, is_due
from agog_training.callbacks.callback import Callback, CallbackList, History, given_callbacks
from agog_training.callbacks.logs import numbers
from agog_training.callbacks.progress import ProgbarLogger, bar
from agog_training.fit import epochs as loop
from agog_training.fit.batches import (
    ArrayBatches,
    Batches,
    OneBatch,
    for_symbols,
    make_batches,
    one_batch,
    refuse_beside,
    validation_batches,
    weighted,
)
from agog_training.fit.objective import Objective
from agog_training.fit.steps import Steps, predicted, stepped
from agog_training.fit.traced_steps import TracedSteps
from agog_training.keras2_methods import Keras2Methods
from agog_training.optimizers.loss_scale import scaled_for
from agog_training.saving.methods import SavingMethods

__all__ = ["Model"]

# What TensorFlow 2 and Keras are told of how a step is compiled; it changes no result.
_HOW_IT_RUNS = ("run_eagerly", "steps_per_execution")


class Model(Steps, Keras2Methods, SavingMethods, agog_layers.Model):
    """A layer of layers with `fit`, `evaluate` and `predict`.

    There are two ways to make one. Derive a class: assign layers to attributes in ``__init__``, and use them in
    ``call``. Or call layers on ``tf.keras.Input``, and name the inputs and outputs.

    Args:
        inputs: what ``tf.keras.Input`` returned, or a list, tuple or dict of those; None in derived classes that have a
            ``call``.
        outputs: what layers made of the inputs, or a structure of those.
        name: the model's name; by default the class's in snake case, with a number from the second one on.
        **kwargs: further arguments of ``tf.keras.layers.Layer``.

    >>> import numpy as np
    >>> import agog_core as ag
    >>> from agog_layers import Dense, Input
    >>> x = Input(shape=[2])
    >>> model = Model(x, Dense(1, kernel_initializer="zeros")(x))
    >>> model.compile("sgd", "mse")
    >>> history = model.fit(np.eye(2), np.ones(2), epochs=2, verbose=0)
    >>> [round(loss, 4) for loss in history.history["loss"]]
    [1.0, 0.9409]
    """

    optimizer: Any = None
    stop_training: bool = False
    _trained: list[Variable] | None = None
    _replicas: Replicas | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        made = super().__new__(cls, *args, **kwargs)
        if (replicas := present_replicas()) is not None and replicas.size > 1:
            vars(made)["_replicas"] = replicas
        return made

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: None = None,
        distribute: None = None,
        jit_compile: bool | str = False,
        auto_scale_loss: bool = True,
        **kwargs: Any,
    ) -> None:
        """Say how the model is trained.

        Args:
            optimizer: an optimizer of ``tf.train`` or ``tf.keras.optimizers``, or a name such as ``"adam"``.
            loss: a function of labels and predictions, or its name; for several outputs one, or a list or dict of them.
            metrics: names, functions of labels and predictions, or metric objects; for several outputs a list for all,
                or a list of lists or a dict.
            loss_weights: the factor of each output's loss, as a list or dict; None for 1.
            sample_weight_mode: ``"temporal"`` where examples have a weight for each step, or None; for several outputs
                one, or a list or dict of them. It changes nothing: the shape of the weights says it.
            weighted_metrics: metrics for which the weights of examples count, in the same way.
            target_tensors: must be None.
            distribute: must be None.
            jit_compile: whether steps run as functions traced by ``tf.function``: to the same bits, without Python
                between their ops. ``"auto"`` is False.
            auto_scale_loss: whether the optimizer of a model with layers of the policy ``"mixed_float16"`` is put into
                a `LossScaleOptimizer`.

        Raises:
            ValueError: a name is unknown, or the losses or metrics do not go with the outputs.
            TypeError: there is no such argument.
            NotImplementedError: an argument that must be None is not.
        """
        check_arguments(Model.compile, {name: kwargs[name] for name in kwargs if name not in _HOW_IT_RUNS})
        for name, value in (("target_tensors", target_tensors), ("distribute", distribute)):
            if value is not None:
                raise NotImplementedError(f"Model {self.name!r}: compile does not support {name}; leave it out.")
        check_modes(self.name, self._known_names(), sample_weight_mode)
        self.optimizer = scaled_for(self, optimizers.get(optimizer), auto_scale_loss)
        # As in Keras, even if it is frozen later; of a model that is not built, all that there will be.
        vars(self)["_trained"] = (self.trainable_variables or None) if self.built else None
        vars(self)["_compiled"] = TracedSteps() if jit_compile is True else None
        if (replicas := present_replicas()) is not None and replicas.size > 1:
            vars(self)["_replicas"] = replicas
        with among(self._replicas):
            vars(self)["_objective"] = Objective(
                self.name, self._known_names(), loss, loss_weights, metrics, weighted_metrics
            )
        has_changed(self, "objective")

    def _known_names(self) -> list[str] | None:
        return self.output_names if self._is_graph_network else None

    @property
    def objective(self) -> Objective:
        """The losses and metrics that `compile` was given."""
        found = vars(self).get("_objective")
        if found is None:
            raise RuntimeError(
                f"Model {self.name!r} has no loss and no optimizer: call model.compile(optimizer, loss) before "
                "training or evaluating."
            )
        objective: Objective = found
        return objective

    @property
    def metrics_names(self) -> list[str]:
        """The names of the numbers that `evaluate` and `train_on_batch` return."""
        return self.objective.metrics_names

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int | str = 1,
        callbacks: Iterable[Callback] | None = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: Mapping[int, float] | None = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: int | Iterable[int] = 1,
        **kwargs: Any,
    ) -> History:
        """Train the model.

        Args:
            x: inputs: an array, or a list or dict of them; or a Dataset, a generator, or anything else to iterate over
                that gives batches (x, y) or (x, y, sample_weight).
            y: labels; only with arrays.
            batch_size: the number of examples in a batch; only with arrays; None for 32.
            epochs: the number of the epoch to end before.
            verbose: 0 for silence, 1 or ``"auto"`` for a progress bar, 2 for a line for each epoch.
            callbacks: are told of each step; see `Callback`.
            validation_split: the share of arrays, at their end and before shuffling, to validate on.
            validation_data: what to validate on after each epoch: a tuple (x, y) or (x, y, sample_weight) of arrays, or
                batches.
            shuffle: whether arrays are shuffled in each epoch; the order comes from `tf.set_random_seed`.
            class_weight: the weight of examples by class.
            sample_weight: the weights of examples; only with arrays.
            initial_epoch: the number of the first epoch, where a training goes on.
            steps_per_epoch: the number of batches in an epoch; None for all.
            validation_steps: the number of batches to validate on; None for all.
            validation_batch_size: the number of examples in a batch of arrays to validate on; None for ``batch_size``.
            validation_freq: after how many epochs each the model is validated, or after which, counted from 1.

        Returns:
            The losses and metrics of all epochs, in ``history.history``.

        Raises:
            RuntimeError: the model is not compiled.
            ValueError: arguments do not go together.
            TypeError: there is no such argument.
        """
        check_arguments(Model.fit, kwargs, QUEUES)
        verbose = self._shown_here(1 if verbose == "auto" else int(verbose))
        x, y = for_symbols(x, self._input_symbols), for_symbols(y, self._output_symbols)
        batches = make_batches(
            "fit", x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight, "steps_per_epoch"
        )
        held_out: Batches | None = None
        if validation_data is not None:
            held_out = validation_batches(validation_data, validation_batch_size or batch_size, validation_steps)
        elif validation_steps is not None and not validation_split:
            raise ValueError("fit: validation_steps goes with validation_data; pass that too, or leave both out.")
        elif validation_split:
            if not isinstance(batches, ArrayBatches):
                refuse_beside("fit", "validation_split", x)
            batches, held_out = batches.split(validation_split)

        def validate(epoch: int) -> dict[str, float]:
            wanted = held_out is not None and is_due(validation_freq, epoch + 1)
            results = loop.evaluate(self, held_out, callbacks=told) if held_out is not None and wanted else {}
            return {f"val_{name}": value for name, value in results.items()}

        history = History()
        listeners = [
            *self._told_here(given_callbacks("fit", callbacks)),
            *([ProgbarLogger("steps")] if verbose else []),
            history,
        ]
        params = {
            "epochs": epochs,
            "steps": batches.steps,
            "samples": getattr(batches, "examples", None),
            "verbose": verbose,
            "do_validation": held_out is not None,
            "metrics": self.metrics_names,
        }
        told = CallbackList(listeners, self, params)
        loop.train(self, batches, epochs, initial_epoch, told, validate)
        self.history = history
        return history

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int | str = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        return_dict: bool = False,
        callbacks: Iterable[Callback] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Compute the losses and metrics.

        Args:
            verbose: 1 for a progress bar.
            steps: the number of batches; None for all.
            return_dict: whether to return a dict.
            callbacks: are told of each batch, by ``on_test_begin`` and so on.

        Other arguments: see `fit`.

        Returns:
            A number, or a list of them, which ``metrics_names`` name; or a dict of these names to numbers.
        """
        check_arguments(Model.evaluate, kwargs, QUEUES)
        x, y = for_symbols(x, self._input_symbols), for_symbols(y, self._output_symbols)
        batches = make_batches("evaluate", x, y, sample_weight, batch_size, steps)
        with bar(batches.steps, self._shown_here(verbose)) as show:
            told = CallbackList(self._told_here(given_callbacks("evaluate", callbacks)), self, {"steps": batches.steps})
            return numbers(loop.evaluate(self, batches, show, told), return_dict)

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int | str = 0,
        steps: int | None = None,
        callbacks: Iterable[Callback] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Compute the outputs.

        Args:
            verbose: 1 for a progress bar.
            steps: the number of batches; None for all.
            callbacks: are told of each batch, by ``on_predict_begin`` and so on.

        Other arguments: see `fit`.

        Returns:
            An array, or arrays in the structure of the outputs.
        """
        check_arguments(Model.predict, kwargs, QUEUES)
        batches = make_batches("predict", for_symbols(x, self._input_symbols), None, None, batch_size, steps)
        with bar(batches.steps, self._shown_here(verbose)) as show:
            told = CallbackList(self._told_here(given_callbacks("predict", callbacks)), self, {"steps": batches.steps})
            return loop.predict(self, batches, show, told)

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Mapping[int, float] | None = None,
        return_dict: bool = False,
    ) -> Any:
        """Take one step.

        Args:
            x: inputs; or a Dataset or an iterator, which gives a batch (x, y) or (x, y, sample_weight).
            y: labels.
            sample_weight: the weights of the examples.
            class_weight: the weight of examples by class.
            return_dict: whether to return a dict.

        Returns:
            The losses and metrics of the batch: a number, or a list of them, which ``metrics_names`` name; or a dict of
            these names to numbers.
        """
        loop.begin(self)
        batch = weighted(one_batch("train_on_batch", x, y, sample_weight), class_weight, "train_on_batch")
        return numbers(stepped(self, "train_step", batch), return_dict)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
        """Compute the losses and metrics of a batch.

        Args:
            x: inputs; or a Dataset or an iterator, as for `train_on_batch`.
            y: labels.
            sample_weight: the weights of the examples.
            return_dict: whether to return a dict.

        Returns:
            A number, or a list of them, which ``metrics_names`` name; or a dict of these names to numbers.
        """
        return numbers(loop.evaluate(self, OneBatch(one_batch("test_on_batch", x, y, sample_weight))), return_dict)

    def predict_on_batch(self, x: Any) -> Any:
        """Compute the outputs of a batch.

        Args:
            x: inputs; or a Dataset or an iterator, as for `train_on_batch`.

        Returns:
            An array, or arrays in the structure of the outputs.
        """
        return nest.map_structure(lambda leaf: leaf.numpy(), predicted(self, one_batch("predict_on_batch", x)))

    def _shown_here(self, verbose: Any) -> Any:
        """What of a bar or lines is shown: of several processes rank 0 shows it."""
        return verbose if self._replicas is None or self._replicas.rank == 0 else 0

    def _told_here(self, callbacks: list[Callback]) -> list[Callback]:
        """The callbacks that are called: of several processes rank 0 has those that only write."""
        if self._replicas is None or self._replicas.rank == 0:
            return callbacks
        return [callback for callback in callbacks if not getattr(callback, "only_writes", False)]
