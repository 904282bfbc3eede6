"""Batching: methods of datasets that join elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agog_data import arguments
from agog_data.methods.pipeline import Pipeline
from agog_data.stages.batching import Batch
from agog_data.stages.padding import PaddedBatch, Padding

if TYPE_CHECKING:
    from agog_data.dataset import Dataset


class BatchingMethods(Pipeline):
    """Methods of datasets that join elements."""

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
    ) -> Dataset:
        """Consecutive elements, joined along a new first axis.

        Args:
            batch_size: how many elements are joined.
            drop_remainder: whether a last batch with fewer is left out.

        Returns:
            A dataset of elements of shapes (batch_size, ...). Where shapes differ within a batch, iterating raises
            `InvalidArgumentError`.

        Raises:
            InvalidArgumentError: ``batch_size`` is below 1.
        """
        return self._then(
            Batch(self._stage, arguments.positive("batch", "batch_size", batch_size), bool(drop_remainder))
        )

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: bool = False
    ) -> Dataset:
        """Consecutive elements, padded at their ends to one size and joined along a new first axis.

        Args:
            batch_size: how many elements are joined.
            padded_shapes: in the structure of an element, the shape to which each component is padded; None or -1 for
                an axis that is as long as the longest of the batch. None for this in all axes.
            padding_values: in the structure of an element, the scalars to pad with; None for zero, False, or the empty
                string.
            drop_remainder: whether a last batch with fewer elements is left out.

        Returns:
            A dataset of elements of shapes (batch_size, ...). Iterating raises `DataLossError` if an element is
            larger than its padded shape, `InvalidArgumentError` if it has another number of axes, and `TypeError`
            if shapes or values do not have the structure or the dtypes of the elements.

        Raises:
            InvalidArgumentError: ``batch_size`` is below 1.

        >>> from agog_data import Dataset
        >>> import agog_core as ag
        >>> for batch in Dataset.range(1, 4).map(lambda n: ag.fill([int(n)], n)).padded_batch(3, [None]):
        ...     print(batch.numpy())
        [[1 0 0]
         [2 2 0]
         [3 3 3]]
        """
        size = arguments.positive("padded_batch", "batch_size", batch_size)
        return self._then(PaddedBatch(self._stage, size, Padding(padded_shapes, padding_values), bool(drop_remainder)))
