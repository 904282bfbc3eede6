"""Dataset: a pipeline of elements, built stage by stage."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, NoReturn

from agog_core.errors import InvalidArgumentError
from agog_data import display, factory, sources, sparse_sources
from agog_data.arguments import integer
from agog_data.elements import components, map_components
from agog_data.iterator import Iterator
from agog_data.methods.batching import BatchingMethods
from agog_data.methods.buffering import BufferingMethods
from agog_data.methods.creation import CreationMethods
from agog_data.methods.description import DescriptionMethods
from agog_data.methods.flattening import FlatteningMethods
from agog_data.methods.mapping import MappingMethods
from agog_data.methods.reduction import ReductionMethods
from agog_data.methods.selection import SelectionMethods
from agog_data.methods.sharding import ShardingMethods
from agog_data.methods.transformations import TransformationMethods
from agog_data.stages.combining import Zip
from agog_data.stages.slicing import Slices


class Dataset(
    SelectionMethods,
    MappingMethods,
    FlatteningMethods,
    CreationMethods,
    BatchingMethods,
    ShardingMethods,
    ReductionMethods,
    BufferingMethods,
    TransformationMethods,
    DescriptionMethods,
):
    """A sequence of elements: tensors, or nested tuples, dicts and namedtuples of tensors.

    Each method returns a new dataset that takes its elements from this one; nothing is computed before an iterator asks
    for it. A dataset can be iterated any number of times, also by several iterators at once.

    Functions given to a dataset run eagerly: Python statements and ``.numpy()`` work. Tapes do not record what a
    pipeline does.

    Args:
        stage: the last stage of the pipeline; datasets are made by `from_tensor_slices`, `range` and other methods.

    >>> pairs = Dataset.from_tensor_slices(([1, 2, 3], [10, 20, 30]))
    >>> for total in pairs.map(lambda x, y: x + y).batch(2):
    ...     print(total)
    tf.Tensor([11 22], shape=(2,), dtype=int32)
    tf.Tensor([33], shape=(1,), dtype=int32)
    """

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """A dataset of one element.

        Args:
            tensors: the element; arrays in it are copied. Components may be a `SparseTensor`
                or a `SparseTensorValue`.

        Returns:
            The dataset.

        Raises:
            ValueError: the structure holds no component.
        """
        if sparse_sources.has_sparse(tensors):
            return Dataset(sparse_sources.single(tensors))
        return Dataset(Slices(sources.single(tensors)))

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """A dataset of the slices of tensors along their first axis.

        Args:
            tensors: tensors of shapes (n, ...), or what converts to them; arrays are copied. Lists are tensors, not
                structure. Components may be a `SparseTensor` or a `SparseTensorValue`; then different lengths are found
                while iterating.

        Returns:
            A dataset of n elements of shapes (...), in the structure of ``tensors``.

        Raises:
            ValueError: the first axes differ in length, or a component is a scalar.

        >>> list(Dataset.from_tensor_slices({"x": [1.0, 2.0]}))[1]["x"].numpy()
        np.float32(2.0)
        """
        if sparse_sources.has_sparse(tensors):
            return Dataset.from_tensors(tensors).unbatch()
        return Dataset(Slices(sources.slices(tensors)))

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
        """A dataset of the rows of a sparse tensor, taken apart; `from_tensor_slices` gives them as sparse tensors.

        Args:
            sparse_tensor: a `SparseTensor` of shape (n, ...), or the `SparseTensorValue` of one.

        Returns:
            A dataset of n tuples: indices of shape (values in the row, rank - 1), the values, and the shape of a row.

        Raises:
            TypeError: it is no `SparseTensor`.

        >>> from agog_core import SparseTensor
        >>> matrix = SparseTensor([[0, 1], [2, 0], [2, 3]], [5.0, 6.0, 7.0], [3, 4])
        >>> for indices, values, shape in Dataset.from_sparse_tensor_slices(matrix):
        ...     print(indices.numpy().tolist(), values.numpy().tolist(), shape.numpy().tolist())
        [[1]] [5.0] [4]
        [] [] [4]
        [[0], [3]] [6.0, 7.0] [4]
        """
        return Dataset(sparse_sources.rows(sparse_tensor))

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
        limits = [integer("range", "each argument", value) for value in args]
        if len(limits) == 3 and not limits[2]:
            raise InvalidArgumentError("range: the step must not be zero.")
        if any(not -(2**63) <= limit < 2**63 for limit in limits):
            raise InvalidArgumentError(f"range: the arguments must fit int64; got {limits}.")
        return Dataset(Slices(sources.RangeSource(builtins.range(*limits))))

    @staticmethod
    def zip(*args: Any, datasets: Any = None) -> Dataset:
        """A dataset whose elements are made of one element of each dataset; it ends with the shortest.

        Args:
            *args: datasets, or one tuple or dict of datasets, also nested.
            datasets: such a tuple or dict, by name.

        Returns:
            A dataset of elements in that structure.

        Raises:
            TypeError: something in it is no dataset.

        >>> [(int(a), int(b)) for a, b in Dataset.zip((Dataset.range(2), Dataset.range(5, 9)))]
        [(0, 5), (1, 6)]
        """
        if (datasets is None) == (not args):
            raise TypeError("zip: give the datasets, or one structure of them: zip(a, b), or zip(datasets=(a, b)).")
        if datasets is None:
            datasets = args[0] if len(args) == 1 else args
        for part in components(datasets):
            if not isinstance(part, Dataset):
                hint = "; use a tuple, not a list" if isinstance(part, list) else ""
                raise TypeError(
                    f"zip: a structure of datasets is expected; it holds {part!r} of type {type(part).__name__}{hint}."
                )
        if not components(datasets):
            raise ValueError("zip: the structure holds no dataset.")
        return Dataset(Zip(map_components(lambda dataset: dataset._stage, datasets)))

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """The result of a function of this dataset.

        Args:
            transformation_func: takes a dataset and returns one.

        Returns:
            The dataset that it returned.

        Raises:
            TypeError: it returned something else.

        >>> [int(x) for x in Dataset.range(5).apply(lambda dataset: dataset.skip(3))]
        [3, 4]
        """
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"apply: the transformation must return a Dataset; it returned {dataset!r} of type "
                f"{type(dataset).__name__}."
            )
        return dataset

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

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "dataset.make_initializable_iterator is not supported when eager execution is enabled. "
            "Use `for element in dataset`, or dataset.make_one_shot_iterator()."
        )

    def _spec(self) -> Any:
        return self._stage.spec()

    def __repr__(self) -> str:
        return display.line(type(self).__name__, self._spec)

    def _repr_html_(self) -> str:
        """The display in notebooks: shapes, dtypes and the first elements, unless they can be read only once."""
        return display.table(type(self).__name__, self._spec, self._stage)

    def _never_ends(self) -> bool:
        """Whether the elements are known to go on forever; what takes datasets asks before it iterates."""
        return self._stage.never_ends()


factory.register(Dataset)
