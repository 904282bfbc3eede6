"""Reduction: one value of a dataset, by the functions of a `Reducer`."""

from __future__ import annotations

from agog_core import constant, dtypes
from agog_data.dataset import Dataset
from agog_data.elements import Element, as_element
from agog_data.transformations.grouping import Reducer


def reduce_dataset(dataset: Dataset, reducer: Reducer) -> Element:
    """Join all elements into one value: `Dataset.reduce` with a beginning and an end.

    Args:
        dataset: the dataset.
        reducer: its ``init_func`` is called with 0.

    Returns:
        What ``finalize_func`` makes of the last state.

    Raises:
        TypeError: an argument is of another type, or the state changes its structure or its dtypes.

    >>> mean = Reducer(lambda key: (0.0, 0.0), lambda s, x: (s[0] + float(x), s[1] + 1.0), lambda sum, n: sum / n)
    >>> reduce_dataset(Dataset.range(4), mean).numpy()
    np.float32(1.5)
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"reduce_dataset: a Dataset is expected; got {dataset!r} of type {type(dataset).__name__}.")
    if not isinstance(reducer, Reducer):
        raise TypeError(f"reduce_dataset: a Reducer is expected; got {reducer!r} of type {type(reducer).__name__}.")
    state = dataset.reduce(reducer.init_func(constant(0, dtypes.int64)), reducer.reduce_func)
    return as_element(reducer.finalize_func(*state) if type(state) is tuple else reducer.finalize_func(state))
