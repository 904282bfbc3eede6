"""Methods of datasets that number elements, and that make several elements of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agog_data import arguments, sources
from agog_data.methods.pipeline import Pipeline
from agog_data.stages.combining import Zip
from agog_data.stages.slicing import Slices

if TYPE_CHECKING:
    from agog_data.dataset import Dataset

_LARGEST = 2**63 - 1


class FlatteningMethods(Pipeline):
    """Methods of datasets that number elements, and that make several elements of one."""

    def enumerate(self, start: Any = 0) -> Dataset:
        """The elements, each with its number.

        Args:
            start: the number of the first element.

        Returns:
            A dataset of pairs: the number, an int64 scalar, and the element.

        Raises:
            TypeError: ``start`` is no integer.

        >>> from agog_data import Dataset
        >>> [(int(number), int(x)) for number, x in Dataset.range(7, 9).enumerate(start=1)]
        [(1, 7), (2, 8)]
        """
        first = arguments.integer("enumerate", "start", start)
        numbers = range(first, min(_LARGEST, first + _LARGEST))  # Python counts no longer ranges
        return self._then(Zip((Slices(sources.RangeSource(numbers)), self._stage)))
