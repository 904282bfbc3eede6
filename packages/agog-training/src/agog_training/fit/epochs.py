"""Epochs: the loops over epochs and batches of `fit`, `evaluate` and `predict`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from agog_core import nest
from agog_training.callbacks.callback import CallbackList
from agog_training.callbacks.logs import Results as Named
from agog_training.fit.batches import Batch, Batches, StreamBatches
from agog_training.fit.late_results import LateResults
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
            for number, batch in enumerate(_batches_of(model, batches)):
                place: dict[str, Any] = {"batch": number, "size": batch.size}
                callbacks.on_batch_begin(number, place)
                results = {}  # of the batch before, which would be looked at for whoever has them still
                results = stepped(model, "train_step", batch)
                callbacks.on_batch_end(number, _beside(place, results))
                if _stops(model):
                    break
            logs = Named(objective.so_far(results) | validate(epoch))
            callbacks.on_epoch_end(epoch, logs)
            model.stop_training = model.stop_training or getattr(batches, "has_ended", False)
            if _stops(model):
                break
        callbacks.on_train_end()
    finally:
        del vars(model)["_on_gradients"]


def _beside(place: dict[str, Any], results: Results) -> dict[str, Any]:
    """Results behind what is known of a batch."""
    return results.beside(place) if isinstance(results, LateResults) else place | results


def _stops(model: Trainable) -> bool:
    """Whether the training ends, for all processes as soon as for one."""
    if model._replicas is not None:
        model.stop_training = bool(model._replicas.all_reduce(int(model.stop_training), "max") > 0)
    return model.stop_training


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
    for number, batch in enumerate(_batches_of(model, batches)):
        told.tell("on_test_batch_begin", number, {})
        results = {}  # as in `train`
        results = stepped(model, "test_step", batch)
        told.tell("on_test_batch_end", number, _beside({}, results))
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
    for number, batch in enumerate(_batches_of(model, batches)):
        told.tell("on_predict_batch_begin", number, {})
        structure = predicted(model, batch)
        told.tell("on_predict_batch_end", number, {"outputs": structure})
        parts.append([leaf.numpy() for leaf in nest.flatten(structure)])
        show(dict)
    told.tell("on_predict_end", {})
    return nest.pack(structure, [np.concatenate(leaves) for leaves in zip(*parts, strict=True)])


def _batches_of(model: Trainable, batches: Batches) -> Iterator[Batch]:
    """The batches of the next epoch; a ValueError if the first one is a single example."""
    stream = batches.epoch()
    for batch in stream:
        if isinstance(batches, StreamBatches):
            _check_is_batch(batches, batch, model._input_symbols or ())
        yield batch
        break
    yield from stream


def _check_is_batch(batches: StreamBatches, batch: Batch, symbols: Any) -> None:
    """Compare with the model's inputs; if it has none yet, a dataset's elements lack the axis that they share."""
    inputs, labels = (
        [np.shape(leaf) for leaf in nest.flatten(part) if leaf is not None] for part in (batch.x, batch.y)
    )
    if len(symbols) == len(inputs):
        pairs = list(zip(inputs, symbols, strict=True))
        single = all(len(shape) == symbol.shape.ndims - 1 and not _is_batch(shape, symbol) for shape, symbol in pairs)
        wanted = f"the model takes {', '.join(str(symbol.shape) for symbol in symbols)}"
    else:
        sizes = {shape[:1] for shape in (*inputs, *labels)}
        single = not any(inputs) or (len(sizes) > 1 and _has_fixed_sizes(batches.source))
        wanted = "a batch has its examples along the first axis of each part"
    if single:
        told = f"x of shape {', '.join(map(str, inputs))}"
        told += f" and y of shape {', '.join(map(str, labels))}" if labels else ""
        raise ValueError(
            f"{batches.what}: the data gives {told}, but {wanted}. Did you forget .batch(), as in dataset.batch(32)?"
        )


def _is_batch(shape: tuple[int, ...], symbol: Any) -> bool:
    """Whether it holds one number per example, for an input of shape (batch, 1)."""
    return len(shape) == 1 and shape != (1,) and symbol.shape.ndims == 2 and symbol.shape[-1] == 1


def _has_fixed_sizes(source: Any) -> bool:
    """Whether it is a dataset whose elements all have known first sizes; those of batches mostly have not."""
    shapes = nest.flatten(getattr(source, "output_shapes", ()))
    return bool(shapes) and all(shape.ndims == 0 or (shape.ndims and shape[0] is not None) for shape in shapes)
