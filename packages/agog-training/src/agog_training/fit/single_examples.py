"""Single examples: a check for data without batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_core import nest
from agog_training.fit.batches import Batch, Batches, StreamBatches
from agog_training.fit.trainable import Trainable


def batches_of(model: Trainable, batches: Batches) -> Iterator[Batch]:
    """The batches of the next epoch; a ValueError if the first one is a single example."""
    stream = batches.epoch()
    for batch in stream:
        if isinstance(batches, StreamBatches):
            _check(batches, batch, model._input_symbols or ())
        yield batch
        break
    yield from stream


def _check(batches: StreamBatches, batch: Batch, symbols: Any) -> None:
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
