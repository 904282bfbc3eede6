"""Dataset: a pipeline of elements, built stage by stage."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, NoReturn

from agog_core.errors import InvalidArgumentError
from agog_core.tensor import Tensor
from agog_data import sources
from agog_data.batching import Batch
from agog_data.choosing import Repeat, Shuffle, Skip, Take
from agog_data.combining import Concatenate, Zip
from agog_data.elements import components, map_components
from agog_data.iterator import Iterator
from agog_data.mapping import Filter, Map
from agog_data.prefetching import Prefetch
from agog_data.slicing import Slices
from agog_data.stage import Stage

_EVERYTHING = 2**63 - 1
_LARGEST_BUFFER = 2**32 - 1


class Dataset:
    """A sequence of elements: tensors, or nested tuples, dicts and namedtuples of tensors.

    Each method returns a new dataset that takes its elements from this one; nothing is computed before an iterator asks
    for it. A dataset can be iterated any number of times, also by several iterators at once.

    Functions given to a dataset run eagerly: Python statements and ``.numpy()`` work. Tapes do not record what a
    pipeline does.

    Args:
        stage: the last stage of the pipeline; datasets are made by `from_tensor_slices`, `from_tensors` and `range`.

    >>> pairs = Dataset.from_tensor_slices(([1, 2, 3], [10, 20, 30]))
    >>> for total in pairs.map(lambda x, y: x + y).batch(2):
    ...     print(total)
    tf.Tensor([11 22], shape=(2,), dtype=int32)
    tf.Tensor([33], shape=(1,), dtype=int32)
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """A dataset of one element.

        Args:
            tensors: the element; arrays in it are copied.

        Returns:
            The dataset.

        Raises:
            ValueError: the structure holds no component.
        """
        return Dataset(Slices(sources.single(tensors)))

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """A dataset of the slices of tensors along their first axis.

        Args:
            tensors: tensors of shapes (n, ...), or what converts to them; arrays are copied. Lists are tensors, not
                structure.

        Returns:
            A dataset of n elements of shapes (...), in the structure of ``tensors``.

        Raises:
            ValueError: the first axes differ in length, or a component is a scalar.

        >>> list(Dataset.from_tensor_slices({"x": [1.0, 2.0]}))[1]["x"].numpy()
        np.float32(2.0)
        """
        return Dataset(Slices(sources.slices(tensors)))

    @staticmethod
    def range(*args: Any) -> Dataset:
        """A dataset of evenly spaced int64 numbers.

        Args:
            *args: stop, or start and stop, or start, stop and step, as for Python's ``range``.

        Returns:
            The dataset.

        Raises:
            InvalidArgumentError: the step is zero, or a number does not fit int64.

        >>> [int(x) for x in Dataset.range(5, 0, -2)]
        [5, 3, 1]
        """
        if not 1 <= len(args) <= 3:
            raise TypeError(f"range takes (stop), (start, stop) or (start, stop, step); got {len(args)} arguments.")
        limits = [_integer("range", "each argument", value) for value in args]
        if len(limits) == 3 and not limits[2]:
            raise InvalidArgumentError("range: the step must not be zero.")
        if any(not -(2**63) <= limit < 2**63 for limit in limits):
            raise InvalidArgumentError(f"range: the arguments must fit int64; got {limits}.")
        return Dataset(Slices(sources.RangeSource(builtins.range(*limits))))

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """A dataset whose elements are made of one element of each dataset; it ends with the shortest.

        Args:
            datasets: a tuple or dict of datasets, also nested.

        Returns:
            A dataset of elements in that structure.

        Raises:
            TypeError: something in it is no dataset.

        >>> [(int(a), int(b)) for a, b in Dataset.zip((Dataset.range(2), Dataset.range(5, 9)))]
        [(0, 5), (1, 6)]
        """
        for part in components(datasets):
            if not isinstance(part, Dataset):
                hint = "; use a tuple, not a list" if isinstance(part, list) else ""
                raise TypeError(
                    f"zip: a structure of datasets is expected; it holds {part!r} of type {type(part).__name__}{hint}."
                )
        if not components(datasets):
            raise ValueError("zip: the structure holds no dataset.")
        return Dataset(Zip(map_components(lambda dataset: dataset._stage, datasets)))

    def concatenate(self, dataset: Dataset) -> Dataset:
        """All elements of this dataset, then all of another.

        Args:
            dataset: the other one; its elements have the same structure and dtypes.

        Returns:
            The dataset.

        Raises:
            TypeError: the argument is no dataset.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(f"concatenate: a Dataset is expected; got {dataset!r} of type {type(dataset).__name__}.")
        return Dataset(Concatenate(self._stage, dataset._stage))

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:
        """What a function makes of each element.

        Random ops in the function give the same whatever the number of threads, and another value for each element and
        epoch.

        Args:
            map_func: takes the element, a tuple as several arguments; returns tensors or what converts to them, in any
                structure; a list is taken for a tuple.
            num_parallel_calls: how many threads call it, some elements ahead of the loop; the order stays. None for no
                thread.

        Returns:
            The dataset. Its ``output_types`` and ``output_shapes`` are those that the function returns for one element.

        Raises:
            TypeError: the function cannot be called.
            InvalidArgumentError: ``num_parallel_calls`` is below 1.

        >>> [int(x) for x in Dataset.range(3).map(lambda x: x * x if x.numpy() > 1 else -x)]
        [0, -1, 4]
        """
        calls = None if num_parallel_calls is None else _positive("map", "num_parallel_calls", num_parallel_calls)
        return Dataset(Map(self._stage, map_func, calls))

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which a predicate holds.

        Args:
            predicate: takes the element, a tuple as several arguments; returns a bool or a scalar boolean tensor.

        Returns:
            The dataset.

        Raises:
            TypeError: the predicate cannot be called.

        >>> [int(x) for x in Dataset.range(5).filter(lambda x: x % 2 > 0)]
        [1, 3]
        """
        return Dataset(Filter(self._stage, predicate))

    def batch(self, batch_size: Any, drop_remainder: bool = False) -> Dataset:
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
        return Dataset(Batch(self._stage, _positive("batch", "batch_size", batch_size), bool(drop_remainder)))

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None) -> Dataset:
        """The elements in random order.

        A buffer is filled with the first ``buffer_size`` elements. A random one leaves it and the next element takes
        its place, until there is none; then the rest leaves in random order. Only with ``buffer_size`` at least the
        number of elements is every order equally likely.

        Args:
            buffer_size: how many elements the buffer holds.
            seed: with the graph seed it determines the order; two datasets of one length, shuffled with one seed, have
                one order.
            reshuffle_each_iteration: whether each epoch and each iterator has an order of its own; None means True.

        Returns:
            The dataset.

        Raises:
            InvalidArgumentError: ``buffer_size`` is below 1.
        """
        size = _positive("shuffle", "buffer_size", buffer_size)
        op_seed = None if seed is None else _integer("shuffle", "seed", seed)
        return Dataset(Shuffle(self._stage, min(size, _LARGEST_BUFFER), op_seed, reshuffle_each_iteration is not False))

    def repeat(self, count: Any = None) -> Dataset:
        """The elements several times.

        Args:
            count: how many times; None or -1 for no end.

        Returns:
            The dataset.

        Raises:
            InvalidArgumentError: ``count`` is below -1.
        """
        times = _count("repeat", -1 if count is None else count)
        return self.take(0) if times == 0 else Dataset(Repeat(self._stage, None if times < 0 else times))

    def take(self, count: Any) -> Dataset:
        """The first elements.

        Args:
            count: how many; -1 for all.

        Returns:
            The dataset.

        Raises:
            InvalidArgumentError: ``count`` is below -1.
        """
        number = _count("take", count)
        return Dataset(Take(self._stage, _EVERYTHING if number < 0 else number))

    def skip(self, count: Any) -> Dataset:
        """The elements but for the first ones.

        Args:
            count: how many to leave out; -1 for all.

        Returns:
            The dataset.

        Raises:
            InvalidArgumentError: ``count`` is below -1.
        """
        number = _count("skip", count)
        return self.take(0) if number < 0 else Dataset(Skip(self._stage, number))

    def prefetch(self, buffer_size: Any) -> Dataset:
        """The elements, computed ahead of the loop on a thread that ends with the iterator.

        Args:
            buffer_size: how many elements are kept ready; 0 for no thread, -1 for a number chosen here.

        Returns:
            The dataset.

        Raises:
            InvalidArgumentError: ``buffer_size`` is below -1.
        """
        size = _count("prefetch", buffer_size, "buffer_size")
        return Dataset(Prefetch(self._stage, 2 if size < 0 else size)) if size else self

    def __iter__(self) -> Iterator:
        return Iterator(self)

    def make_one_shot_iterator(self) -> Iterator:
        """An iterator over the elements.

        Returns:
            The same as ``iter(dataset)``.
        """
        return Iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> NoReturn:
        """Not supported, as in TensorFlow's eager execution.

        Args:
            shared_name: not used.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "dataset.make_initializable_iterator is not supported when eager execution is enabled. "
            "Use `for element in dataset`, or dataset.make_one_shot_iterator()."
        )

    @property
    def output_types(self) -> Any:
        """The dtypes of the elements, in their structure. To know those after a `map`, its function is called once."""
        return map_components(lambda component: component.dtype, self._stage.spec())

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements, in their structure, with None for sizes that vary."""
        return map_components(lambda component: component.shape, self._stage.spec())

    @property
    def output_classes(self) -> Any:
        """`Tensor` for each component, in the structure of the elements."""
        return map_components(lambda component: Tensor, self._stage.spec())


def _integer(stage: str, name: str, value: Any) -> int:
    try:
        number: int = value.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"{stage}: {name} must be an integer; got {value!r} of type {type(value).__name__}.") from None
    return number


def _positive(stage: str, name: str, value: Any) -> int:
    number = _integer(stage, name, value)
    if number < 1:
        raise InvalidArgumentError(f"{stage}: {name} must be greater than zero; got {number}.")
    return number


def _count(stage: str, value: Any, name: str = "count") -> int:
    number = _integer(stage, name, value)
    if number < -1:
        raise InvalidArgumentError(f"{stage}: {name} must be -1 or greater; got {number}.")
    return number
