"""Transformations: methods of datasets that TensorFlow 1.12 has as transformations for `Dataset.apply`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agog_data.elements import Element
from agog_data.factory import transformation
from agog_data.methods.pipeline import Pipeline

if TYPE_CHECKING:
    from agog_data.dataset import Dataset


# The transformations stand on Dataset, and most programs have no use for them: they are imported when they are called.
class TransformationMethods(Pipeline):
    """Methods of datasets over what `agog_data.transformations` makes for `Dataset.apply`."""

    def take_while(self, predicate: Callable[..., Any]) -> Dataset:
        """See `take_while` of ``tf.data.experimental``.

        >>> from agog_data import Dataset
        >>> [int(x) for x in Dataset.range(9).take_while(lambda x: x < 3)]
        [0, 1, 2]
        """
        return self._by("take_while", predicate)

    def unique(self) -> Dataset:
        """See `unique` of ``tf.data.experimental``.

        >>> from agog_data import Dataset
        >>> [int(x) for x in Dataset.from_tensor_slices([1, 37, 1]).unique()]
        [1, 37]
        """
        return self._by("unique")

    def ignore_errors(self) -> Dataset:
        """See `ignore_errors` of ``tf.data.experimental``."""
        return self._by("ignore_errors")

    def scan(self, initial_state: Any, scan_func: Callable[..., Any]) -> Dataset:
        """See `scan` of ``tf.data.experimental``."""
        return self._by("scan", initial_state, scan_func)

    def group_by_window(self, *args: Any, **kwargs: Any) -> Dataset:
        """See `group_by_window` of ``tf.data.experimental``."""
        return self._by("group_by_window", *args, **kwargs)

    def bucket_by_sequence_length(self, *args: Any, **kwargs: Any) -> Dataset:
        """See `bucket_by_sequence_length` of ``tf.data.experimental``."""
        return self._by("bucket_by_sequence_length", *args, **kwargs)

    def rejection_resample(self, *args: Any, **kwargs: Any) -> Dataset:
        """See `rejection_resample` of ``tf.data.experimental``."""
        return self._by("rejection_resample", *args, **kwargs)

    def get_single_element(self) -> Element:
        """See `get_single_element` of ``tf.data.experimental``.

        >>> from agog_data import Dataset
        >>> int(Dataset.range(3).skip(2).get_single_element())
        2
        """
        return transformation("get_single_element")(self)

    @staticmethod
    def sample_from_datasets(datasets: Any, weights: Any = None, seed: Any = None) -> Dataset:
        """See `sample_from_datasets` of ``tf.data.experimental``."""
        dataset: Dataset = transformation("sample_from_datasets")(datasets, weights, seed)
        return dataset

    @staticmethod
    def choose_from_datasets(datasets: Any, choice_dataset: Dataset) -> Dataset:
        """See `choose_from_datasets` of ``tf.data.experimental``."""
        dataset: Dataset = transformation("choose_from_datasets")(datasets, choice_dataset)
        return dataset

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = "int64") -> Dataset:
        """See `Counter` of ``tf.data.experimental``."""
        dataset: Dataset = transformation("Counter")(start, step, dtype)
        return dataset

    def _by(self, name: str, *args: Any, **kwargs: Any) -> Dataset:
        dataset: Dataset = transformation(name)(*args, **kwargs)(self)
        return dataset
