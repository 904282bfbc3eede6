"""Ahead: methods of datasets that compute elements in advance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agog_data import arguments
from agog_data.methods.pipeline import Pipeline
from agog_data.stages.prefetching import Prefetch

if TYPE_CHECKING:
    from agog_data.dataset import Dataset


class AheadMethods(Pipeline):
    """Methods of datasets that have elements ready before they are asked for."""

    def prefetch(self, buffer_size: Any) -> Dataset:
        """The elements, computed ahead of the loop on a thread that ends with the iterator.

        Args:
            buffer_size: how many elements are kept ready; 0 for no thread, -1 or None for a number chosen here.

        Returns:
            The dataset.

        Raises:
            InvalidArgumentError: ``buffer_size`` is below -1.
        """
        size = -1 if buffer_size is None else arguments.count("prefetch", buffer_size, "buffer_size")
        return self._then(Prefetch(self._stage, 2 if size < 0 else size) if size else self._stage)
