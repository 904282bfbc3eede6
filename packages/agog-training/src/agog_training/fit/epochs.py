"""Loops: over epochs and batches, to train, to evaluate and to predict."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from agog_core import GradientTape, cast, convert_to_tensor, nest
from agog_layers import Layer, Sequential
from agog_layers.base.learning_phase import learning_phase_scope
from agog_layers.base.signature import takes_training
from agog_optimizers import LossScaleOptimizer
from agog_training.callbacks.callback import CallbackList
from agog_training.callbacks.results import Results as Named
from agog_training.fit.batches import Batch, Batches
from agog_training.fit.single_examples import batches_of, variables_to_train

Results = dict[str, float]
# Takes what gives the results so far.
Show = Callable[[Callable[[], Results]], None]


def train(
    model: Any,
    batches: Batches,
    epochs: int,
    initial_epoch: int,
    callbacks: CallbackList,
    validate: Callable[[int], Results],
) -> None:
    """Train a model from one epoch up to another; ``validate`` gives the results on other data after an epoch."""
    objective, model.stop_training = model.objective, False
    vars(model)["_on_gradients"] = callbacks.on_gradients
    try:
        callbacks.on_train_begin()
        for epoch in range(max(initial_epoch, callbacks.first_epoch), epochs):
            callbacks.on_epoch_begin(epoch)
            begin(model)
            results: Results = {}
            for number, batch in enumerate(batches_of(model, batches)):
                place: dict[str, Any] = {"batch": number, "size": batch.size}
                callbacks.on_batch_begin(number, place)
                results = model._step("train_step", batch)
                callbacks.on_batch_end(number, place | results)
                if model.stop_training:
                    break
            logs = Named(objective.so_far(results) | validate(epoch))
            callbacks.on_epoch_end(epoch, logs)
            model.stop_training = model.stop_training or getattr(batches, "has_ended", False)
            if model.stop_training:
                break
        callbacks.on_train_end()
    finally:
        del vars(model)["_on_gradients"]


def begin(model: Any) -> None:
    """Forget what losses and metrics have seen; a RuntimeError where the model is not compiled."""
    model.objective.reset()
    model.reset_metrics()


def train_step(model: Any, batch: Batch) -> Results:
    """Take a step by a batch; the losses of the batch, and the metrics so far."""
    answers, losses, gradients = model._run(_train, batch.x, batch.y, batch.weights)
    if model._on_gradients is not None:
        model._on_gradients(list(zip(gradients, variables_to_train(model), strict=True)))
    results: Results = model.objective.update(answers, losses, batch.size)
    return results


def _train(model: Any, x: Any, y: Any, weights: Any) -> tuple[Any, ...]:
    """Take a step; the outputs with their labels, the losses, and the gradients."""
    objective, optimizer = model.objective, model.optimizer
    scales = isinstance(optimizer, LossScaleOptimizer)
    with GradientTape() as tape:
        tape.watch(model._trained or ())
        answers = objective.match(run(model, x, training=True), Batch(x, y, weights))
        losses = objective.losses(answers, model.losses)
        loss = optimizer.get_scaled_loss(losses["loss"]) if scales else losses["loss"]
    variables = variables_to_train(model)
    gradients = tape.gradient(loss, variables)
    if scales:
        gradients = optimizer.get_unscaled_gradients(gradients)
    if variables:
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
    return answers, losses, gradients


def test_step(model: Any, batch: Batch) -> Results:
    """The losses of a batch, and the metrics so far."""
    answers, losses = model._run(_test, batch.x, batch.y, batch.weights)
    results: Results = model.objective.update(answers, losses, batch.size)
    return results


def _test(model: Any, x: Any, y: Any, weights: Any) -> tuple[Any, ...]:
    objective = model.objective
    answers = objective.match(run(model, x, training=False), Batch(x, y, weights))
    return answers, objective.losses(answers, model.losses)


def evaluate(
    model: Any, batches: Batches, show: Show = lambda results: None, callbacks: CallbackList | None = None
) -> Results:
    """The losses and metrics on data; ``show`` is told after each batch how to learn those so far."""
    objective, told = model.objective, callbacks or CallbackList()
    told.tell("on_test_begin", {})
    begin(model)
    results: Results = {}
    for number, batch in enumerate(batches_of(model, batches)):
        told.tell("on_test_batch_begin", number, {})
        results = model._step("test_step", batch)
        told.tell("on_test_batch_end", number, dict(results))
        show(partial(objective.so_far, results))
    so_far: Results = objective.so_far(results)
    told.tell("on_test_end", dict(so_far))
    return so_far


def predict(
    model: Any, batches: Batches, show: Show = lambda results: None, callbacks: CallbackList | None = None
) -> Any:
    """Arrays in the structure of a model's outputs; ``show`` is told of each batch."""
    structure: Any = None
    parts: list[list[Any]] = []
    told = callbacks or CallbackList()
    told.tell("on_predict_begin", {})
    for number, batch in enumerate(batches_of(model, batches)):
        told.tell("on_predict_batch_begin", number, {})
        structure = model._predict(batch.x)
        told.tell("on_predict_batch_end", number, {"outputs": structure})
        parts.append([leaf.numpy() for leaf in nest.flatten(structure)])
        show(dict)
    told.tell("on_predict_end", {})
    return nest.pack(structure, [np.concatenate(leaves) for leaves in zip(*parts, strict=True)])


def run(model: Any, x: Any, training: bool) -> Any:
    """Call a model on inputs, whose floats take its dtype; its layers learn of training, by its ``call`` or not."""
    inputs = inputs_of(model, x)
    with learning_phase_scope(training):
        return model(inputs, training=training) if takes_training(model.call) else model(inputs)


def inputs_of(model: Any, x: Any) -> Any:
    """Inputs as tensors, whose floats take the model's dtype, and whose integers do where it takes floats."""
    x = _listed(model, x)
    symbols = model._input_symbols or ()
    if nest.is_mapping(x) and set(x) == {symbol.name for symbol in symbols}:
        return {s.name: _of_precision(x[s.name], s.dtype, s.dtype.is_floating) for s in symbols}
    dtypes = [symbol.dtype for symbol in symbols]
    leaves = nest.flatten(x)
    if len(dtypes) != len(leaves):
        return nest.map_structure(lambda leaf: _of_precision(leaf, _float_dtype(model), _takes_floats(model)), x)
    every = zip(leaves, dtypes, strict=True)
    return nest.pack(x, [_of_precision(leaf, dtype, dtype.is_floating) for leaf, dtype in every])


def _listed(model: Any, x: Any) -> Any:
    """A list of what a dict holds under ``input_1``, ``input_2`` and so on, as Keras calls the inputs of a model that
    names none; anything else as it is."""
    if nest.is_mapping(x) and not model._input_symbols and set(x) == {f"input_{n + 1}" for n in range(len(x))}:
        return [x[f"input_{n + 1}"] for n in range(len(x))]
    return x


def _takes_floats(model: Any) -> bool:
    """Whether the first layer with weights of a model that names no inputs takes floats alone."""
    for layer in model.layers if isinstance(model, Sequential) else ():
        inner = getattr(layer, "layer", layer)  # that of a wrapper
        if inner.needs_floats or type(inner).build is not Layer.build:
            return bool(inner.needs_floats)
    return False


def _float_dtype(model: Any) -> Any:
    return next((variable.dtype for variable in model.variables if variable.dtype.is_floating), "float32")


def _of_precision(value: Any, dtype: Any, takes_floats: bool) -> Any:
    tensor = convert_to_tensor(value)
    is_number = tensor.dtype.is_integer or tensor.dtype.is_bool
    return cast(tensor, dtype) if tensor.dtype.is_floating or (takes_floats and is_number) else tensor
