"""Epochs: the loops over epochs and batches of `fit`, `evaluate` and `predict`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from agog_core import nest
from agog_training.callbacks.callback import CallbackList
from agog_training.callbacks.logs import Results as Named
from agog_training.fit.batches import Batches
from agog_training.fit.single_examples import batches_of
from agog_training.fit.steps import Results, predicted, stepped
from agog_training.fit.trainable import Trainable

# Takes what gives the results so far.
Show = Callable[[Callable[[], Results]], None]


def train(
    model: Trainable,
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
                results = stepped(model, "train_step", batch)
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


def begin(model: Trainable) -> None:
    """Forget what losses and metrics have seen; a RuntimeError if the model is not compiled."""
    model.objective.reset()
    model.reset_metrics()


def evaluate(
    model: Trainable, batches: Batches, show: Show = lambda results: None, callbacks: CallbackList | None = None
) -> Results:
    """The losses and metrics on data; ``show`` is told after each batch how to learn those so far."""
    objective, told = model.objective, callbacks or CallbackList()
    told.tell("on_test_begin", {})
    begin(model)
    results: Results = {}
    for number, batch in enumerate(batches_of(model, batches)):
        told.tell("on_test_batch_begin", number, {})
        results = stepped(model, "test_step", batch)
        told.tell("on_test_batch_end", number, dict(results))
        show(partial(objective.so_far, results))
    so_far: Results = objective.so_far(results)
    told.tell("on_test_end", dict(so_far))
    return so_far


def predict(
    model: Trainable, batches: Batches, show: Show = lambda results: None, callbacks: CallbackList | None = None
) -> Any:
    """Arrays in the structure of a model's outputs; ``show`` is told of each batch."""
    structure: Any = None
    parts: list[list[Any]] = []
    told = callbacks or CallbackList()
    told.tell("on_predict_begin", {})
    for number, batch in enumerate(batches_of(model, batches)):
        told.tell("on_predict_batch_begin", number, {})
        structure = predicted(model, batch.x)
        told.tell("on_predict_batch_end", number, {"outputs": structure})
        parts.append([leaf.numpy() for leaf in nest.flatten(structure)])
        show(dict)
    told.tell("on_predict_end", {})
    return nest.pack(structure, [np.concatenate(leaves) for leaves in zip(*parts, strict=True)])
