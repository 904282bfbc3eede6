"""Checks: mistakes in what is trained, and on what, that would show as something else."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from agog_core import Variable, nest
from agog_training.fit.batches import Batch, Batches, StreamBatches


def batches_of(model: Any, batches: Batches) -> Iterator[Batch]:
    """The batches of the next epoch; a ValueError where the first one is a single example."""
    stream = batches.epoch()
    for batch in stream:
        if isinstance(batches, StreamBatches):
            _check(batches, batch, model._input_symbols or ())
        yield batch
        break
    yield from stream


def _check(batches: StreamBatches, batch: Batch, symbols: Any) -> None:
    """Compare with the model's inputs; where it has none yet, a dataset's elements lack the axis that they share."""
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
    """Whether it is that of numbers, one for each of several examples, for an input that takes them as (batch, 1)."""
    return len(shape) == 1 and shape != (1,) and symbol.shape.ndims == 2 and symbol.shape[-1] == 1


def _has_fixed_sizes(source: Any) -> bool:
    """Whether it is a dataset whose elements all have known first sizes; those of batches mostly have not."""
    shapes = nest.flatten(getattr(source, "output_shapes", ()))
    return bool(shapes) and all(shape.ndims == 0 or (shape.ndims and shape[0] is not None) for shape in shapes)


def check_modes(model: str, names: Sequence[str] | None, given: Any) -> None:
    """Check the ``sample_weight_mode`` of a model, whose outputs may not be known by name yet; a ValueError says which
    is no mode, or that there are not as many as outputs."""
    modes = list(given.values()) if nest.is_mapping(given) else given if isinstance(given, (list, tuple)) else [given]
    if isinstance(given, (list, tuple)) and len(given) != len(names or given or ("output",)):
        raise ValueError(
            f"Model {model!r}: sample_weight_mode has {len(given)} entries; the outputs are "
            f"{list(names or ['output'])}."
        )
    if nest.is_mapping(given) and names is not None and (unknown := sorted(set(given) - set(names))):
        raise ValueError(f"Model {model!r}: sample_weight_mode has {unknown}, but the outputs are {list(names)}.")
    for mode in modes:
        if mode not in (None, "temporal"):
            raise ValueError(f"Model {model!r}: sample_weight_mode must be None or 'temporal'; got {mode!r}.")


def variables_to_train(model: Any) -> list[Variable]:
    """The variables that were trainable when the model was compiled, or are now if there were none then; a ValueError
    where all are frozen, and a warning where the model has none, or they are others now."""
    variables: list[Variable] = model.trainable_variables
    trained: list[Variable] | None = model._trained
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
