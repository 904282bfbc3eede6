"""Datasets: the part of a dataset that each process takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import agog_core as ag
from agog_core import nest
from agog_distribute.collectives.ops import all_reduce
from agog_distribute.processes.groups import Group, everybody

__all__ = ["DistributedDataset", "InputContext", "shard"]


def shard(dataset: Any, group: Group | None = None) -> Any:
    """The rows of each batch that this process takes; all processes call it with the same dataset of whole batches.

    They get equally many batches, also where these cannot be divided: a process has a row more than another, or none.
    The states of their iterators are equal, and fit any number of processes. A dataset that is shuffled needs a seed.

    Args:
        dataset: a `Dataset` whose elements are batches.
        group: the processes; all, by default.

    Returns:
        A `Dataset` of as many batches, with the rows for this process.

    Raises:
        TypeError: it is no dataset.

    >>> from agog_data import Dataset
    >>> [batch.numpy().tolist() for batch in shard(Dataset.range(3).batch(2))]  # in one process
    [[0, 1], [2]]
    """
    if not hasattr(dataset, "shard_batches"):
        raise TypeError(f"shard: a Dataset of batches is expected; got {dataset!r} of type {type(dataset).__name__}.")
    members = group or everybody()
    return dataset if members.size == 1 else dataset.shard_batches(members.size, members.rank)


class DistributedDataset:
    """What a strategy makes of a dataset: this process's part of each batch. It can be iterated, and given to `fit`.

    Args:
        dataset: a dataset whose batches are for this process.
        group: the processes.
        is_counted: whether all have equally many batches; if not, they ask each other before each, and those that have
            no more get batches without rows.
    """

    is_distributed = True

    def __init__(self, dataset: Any, group: Group, is_counted: bool) -> None:
        self._dataset, self._group = dataset, group
        self._asks = not is_counted and group.size > 1

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._dataset.element_spec

    @property
    def output_types(self) -> Any:
        """The dtypes of the elements, in their structure."""
        return self._dataset.output_types

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements, in their structure."""
        return self._dataset.output_shapes

    def _never_ends(self) -> bool:
        asked = getattr(self._dataset, "_never_ends", None)
        return callable(asked) and bool(asked())

    def __iter__(self) -> Iterator[Any]:
        return self._until_all_end() if self._asks else iter(self._dataset)

    def _until_all_end(self) -> Iterator[Any]:
        nothing = object()
        elements = iter(self._dataset)
        while True:
            element = next(elements, nothing)
            if not all_reduce(ag.constant(int(element is not nothing)), "max", self._group).numpy():
                return
            yield self._no_rows() if element is nothing else element

    def _no_rows(self) -> Any:
        def empty(dtype: Any, shape: Any) -> Any:
            return ag.zeros([0, *(size or 0 for size in shape.as_list()[1:])], dtype)

        types, shapes = nest.flatten(self.output_types), nest.flatten(self.output_shapes)
        return nest.pack(self.output_types, list(map(empty, types, shapes)))

    def __repr__(self) -> str:
        return f"<DistributedDataset of {self._dataset!r} over {self._group.size} processes>"


class InputContext:
    """What a function that makes a process's dataset may ask; see `Strategy.distribute_datasets_from_function`.

    Args:
        num_input_pipelines: how many processes there are.
        input_pipeline_id: which of them this is.
        num_replicas_in_sync: how many processes there are.
    """

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1) -> None:
        self.num_input_pipelines, self.input_pipeline_id = num_input_pipelines, input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The batch size of a process.

        Args:
            global_batch_size: how many examples all processes take in a step.

        Returns:
            An int.

        Raises:
            ValueError: the processes cannot divide it.

        >>> InputContext(4, 0, 4).get_per_replica_batch_size(64)
        16
        """
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The global_batch_size {global_batch_size} is not divisible by num_replicas_in_sync "
                f"{self.num_replicas_in_sync}."
            )
        return global_batch_size // self.num_replicas_in_sync

    def __repr__(self) -> str:
        return f"<InputContext of pipeline {self.input_pipeline_id} of {self.num_input_pipelines}>"
