"""Description: methods of datasets that tell how many elements there are, and what they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agog_core import SparseTensor, SparseTensorValue, Tensor, convert_to_tensor
from agog_data.elements import Described, map_components
from agog_data.factory import AnyDataset
from agog_data.methods.pipeline import Pipeline
from agog_data.stage import INFINITE

if TYPE_CHECKING:
    from agog_data.dataset import Dataset


class DescriptionMethods(Described, Pipeline):
    """Methods of datasets for the number, dtypes and shapes of elements."""

    def cardinality(self) -> Tensor:
        """The number of elements, as far as it is known without making them.

        Returns:
            A scalar of int64; ``tf.data.INFINITE_CARDINALITY``, -1, where they never end, and
            ``tf.data.UNKNOWN_CARDINALITY``, -2, where nobody knows, as after a `filter`.

        >>> from agog_data import Dataset
        >>> numbers = Dataset.range(10)
        >>> [int(each.cardinality()) for each in (numbers.batch(4), numbers.repeat(), numbers.filter(lambda x: x > 3))]
        [3, -1, -2]
        """
        return convert_to_tensor(self._stage.cardinality(), "int64")

    def __len__(self) -> int:
        count = self._stage.cardinality()
        if count < 0:
            why = "never ends" if count == INFINITE else "has a length that only iterating tells"
            raise TypeError(
                f"len(dataset): the dataset {why}. Count with sum(1 for _ in dataset), or end it with dataset.take(n)."
            )
        return count

    def __bool__(self) -> bool:
        return True

    @property
    def element_spec(self) -> Any:
        """The spec of the elements, in their structure: a `TensorSpec` for each component; for a component that is a
        dataset, the dataset in ``output_types``.

        >>> from agog_data import Dataset
        >>> Dataset.range(3).element_spec
        TensorSpec(shape=(), dtype=tf.int64, name=None)
        """
        from agog_core.tensors.tensor_spec import TensorSpec

        def described(component: Any) -> Any:
            is_dataset = isinstance(component.dtype, Described)
            return component.dtype if is_dataset else TensorSpec(component.shape, component.dtype)

        return map_components(described, self._spec())

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements with NumPy's arrays and numbers in place of tensors.

        Returns:
            An iterator; components that are datasets become such iterators, and sparse ones `SparseTensorValue`.

        >>> from agog_data import Dataset
        >>> list(Dataset.from_tensor_slices({"x": [1.5, 2.5]}).as_numpy_iterator())
        [{'x': np.float32(1.5)}, {'x': np.float32(2.5)}]
        """
        dataset: Dataset = self  # type: ignore[assignment]
        return (map_components(_as_numpy, element) for element in dataset)


def _as_numpy(component: Any) -> Any:
    if isinstance(component, AnyDataset):
        return component.as_numpy_iterator()  # type: ignore[attr-defined]
    if isinstance(component, SparseTensor):
        parts = (component.indices, component.values, component.dense_shape)
        return SparseTensorValue(*(part.numpy() for part in parts))
    return component.numpy()
