"""Joining: methods of datasets that join elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agog_data import arguments
from agog_data.methods.pipeline import Pipeline
from agog_data.stages.batching import Batch

if TYPE_CHECKING:
    from agog_data.dataset import Dataset


class JoiningMethods(Pipeline):
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
