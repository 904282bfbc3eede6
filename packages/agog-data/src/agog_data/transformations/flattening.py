"""Flattening: transformations that number, split and join elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_data import arguments
from agog_data.dataset import Dataset
from agog_data.stages.parallel_interleaving import ParallelInterleave
from agog_data.stages.sloppy_interleaving import SloppyInterleave

Transformation = Callable[[Dataset], Dataset]


def enumerate_dataset(start: Any = 0) -> Transformation:
    """Number the elements of a dataset, as `Dataset.enumerate` does.

    Args:
        start: the number of the first element.

    Returns:
        A function for `Dataset.apply`.

    >>> for number, word in Dataset.from_tensor_slices(["a", "b"]).apply(enumerate_dataset(start=5)):
    ...     print(int(number), word.numpy())
    5 b'a'
    6 b'b'
    """
    return lambda dataset: dataset.enumerate(start)


def unbatch() -> Transformation:
    """Take the elements of a dataset apart, as `Dataset.unbatch` does.

    Returns:
        A function for `Dataset.apply`.

    >>> [int(x) for x in Dataset.range(3).batch(2).apply(unbatch())]
    [0, 1, 2]
    """
    return lambda dataset: dataset.unbatch()


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """Read several datasets at once, as `Dataset.interleave` does, each on a thread of its own.

    Args:
        map_func: takes the element, a tuple as several arguments; returns a dataset.
        cycle_length: how many datasets are read in turn.
        block_length: how many elements are taken from each at a time.
        sloppy: whether an element that is ready may come before one that is not. The order then varies from run to run.
        buffer_output_elements: how many elements of each dataset are kept ready; None for twice ``block_length``.
        prefetch_input_elements: how many more datasets are opened before their turn comes; None for twice
            ``cycle_length``.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        InvalidArgumentError: a number is below 1, or ``prefetch_input_elements`` below 0.

    >>> lengths = Dataset.from_tensor_slices([3, 1])
    >>> [int(x) for x in lengths.apply(parallel_interleave(lambda n: Dataset.range(n), cycle_length=2))]
    [0, 0, 1, 2]
    """
    name = "parallel_interleave"
    cycle = arguments.positive(name, "cycle_length", cycle_length)
    block = arguments.positive(name, "block_length", block_length)
    buffer = 2 * block
    if buffer_output_elements is not None:
        buffer = arguments.positive(name, "buffer_output_elements", buffer_output_elements)
    prefetch = 2 * cycle
    if prefetch_input_elements is not None:
        prefetch = arguments.integer(name, "prefetch_input_elements", prefetch_input_elements)
        if prefetch < 0:
            raise InvalidArgumentError(f"{name}: prefetch_input_elements must not be negative; got {prefetch}.")
    return lambda dataset: dataset._then(
        SloppyInterleave(dataset._stage, map_func, cycle, buffer)
        if sloppy
        else ParallelInterleave(name, dataset._stage, map_func, cycle, block, None, buffer, prefetch)
    )


def sloppy_interleave(map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1) -> Transformation:
    """Read several datasets at once, and take what is ready: `parallel_interleave` with ``sloppy=True``.

    Args:
        map_func: takes the element, a tuple as several arguments; returns a dataset.
        cycle_length: how many datasets are read at once.
        block_length: half of how many elements of each dataset are kept ready.

    Returns:
        A function for `Dataset.apply`.

    >>> lengths = Dataset.from_tensor_slices([3, 1])
    >>> sorted(int(x) for x in lengths.apply(sloppy_interleave(lambda n: Dataset.range(n), cycle_length=2)))
    [0, 0, 1, 2]
    """
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)
