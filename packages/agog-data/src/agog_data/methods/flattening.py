"""Flattening: methods of datasets that number, split and group elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agog_data import arguments, sources
from agog_data.methods.pipeline import Pipeline
from agog_data.stages.combining import Zip
from agog_data.stages.nesting import Interleave
from agog_data.stages.parallel_interleaving import ParallelInterleave
from agog_data.stages.slicing import Slices
from agog_data.stages.unbatching import Unbatch
from agog_data.stages.windows import Window

if TYPE_CHECKING:
    from agog_data.dataset import Dataset

_LARGEST = 2**63 - 1


class FlatteningMethods(Pipeline):
    """Methods of datasets that number, split and group elements."""

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
        numbers = range(first, min(_LARGEST, first + _LARGEST))  # Python's ranges count no further
        return self._then(Zip((Slices(sources.RangeSource(numbers)), self._stage)))

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """All elements of the datasets that a function makes of the elements, one dataset after the other.

        Args:
            map_func: takes the element, a tuple as several arguments; returns a dataset.

        Returns:
            The dataset. Its ``output_types`` and ``output_shapes`` are those of the dataset for one element.

        Raises:
            TypeError: the function cannot be called.

        >>> from agog_data import Dataset
        >>> [int(x) for x in Dataset.range(4).flat_map(lambda n: Dataset.range(n))]
        [0, 0, 1, 0, 1, 2]
        """
        return self._then(Interleave("flat_map", self._stage, map_func, 1, 1))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = 1,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
    ) -> Dataset:
        """The elements of the datasets that a function makes of the elements, some from each in turn.

        ``cycle_length`` datasets are open at a time. The dataset of the next element takes the place of an exhausted
        one in the next round.

        Args:
            map_func: takes the element, a tuple as several arguments; returns a dataset.
            cycle_length: how many datasets are read in turn; None for as many as there are threads, or one.
            block_length: how many elements are taken from each at a time.
            num_parallel_calls: how many threads work at once, each on a dataset of its own and some elements ahead of
                the loop; the order stays. None for no thread, ``tf.data.AUTOTUNE`` for one for each of the
                processor's cores.

        Returns:
            The dataset.

        Raises:
            TypeError: the function cannot be called.
            InvalidArgumentError: a number is below 1.

        >>> from agog_data import Dataset
        >>> words = Dataset.from_tensor_slices(["a", "b", "c"])
        >>> repeated = words.interleave(lambda word: Dataset.from_tensors(word).repeat(3), cycle_length=2)
        >>> [x.numpy().decode() for x in repeated]
        ['a', 'b', 'a', 'b', 'a', 'b', 'c', 'c', 'c']
        """
        calls = arguments.parallel_calls("interleave", num_parallel_calls)
        automatic = cycle_length is None or cycle_length == arguments.AUTOTUNE
        cycle = arguments.positive("interleave", "cycle_length", (calls or 1) if automatic else cycle_length)
        block = arguments.positive("interleave", "block_length", block_length)
        if calls is None:
            return self._then(Interleave("interleave", self._stage, map_func, cycle, block))
        return self._then(ParallelInterleave("interleave", self._stage, map_func, cycle, block, calls, 2 * block, 0))

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False) -> Dataset:
        """Datasets of consecutive elements.

        Args:
            size: how many elements a window has; the last ones may have fewer.
            shift: by how many elements the next window begins later; None for ``size``.
            stride: 1 for neighbours, 2 for every other element, and so on.
            drop_remainder: whether windows with fewer elements are left out.

        Returns:
            A dataset of elements in the structure of this one's, with a dataset for each component. They can be
            iterated as they are, or become elements by `flat_map`.

        Raises:
            InvalidArgumentError: a number is below 1.

        >>> from agog_data import Dataset
        >>> for numbers in Dataset.range(5).window(3, shift=2, drop_remainder=True):
        ...     print([int(x) for x in numbers])
        [0, 1, 2]
        [2, 3, 4]
        >>> windows = Dataset.zip((Dataset.range(4), Dataset.range(4, 8))).window(2)
        >>> for x, y in windows.flat_map(lambda x, y: Dataset.zip((x.batch(2), y.batch(2)))):
        ...     print(x.numpy(), y.numpy())
        [0 1] [4 5]
        [2 3] [6 7]
        """
        length = arguments.positive("window", "size", size)
        step = length if shift is None else arguments.positive("window", "shift", shift)
        every = arguments.positive("window", "stride", stride)
        return self._then(Window(self._stage, length, step, every, bool(drop_remainder)))

    def unbatch(self) -> Dataset:
        """The slices of the elements along their first axis: what `batch` joined.

        Returns:
            A dataset of elements of shapes (...), where this one's have shapes (n, ...); n may vary. Iterating raises
            `InvalidArgumentError` if a component is a scalar or the components of an element differ in length.

        >>> from agog_data import Dataset
        >>> [int(x) for x in Dataset.range(5).batch(2).unbatch()]
        [0, 1, 2, 3, 4]
        """
        return self._then(Unbatch(self._stage))
