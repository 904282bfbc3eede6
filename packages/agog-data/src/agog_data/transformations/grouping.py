"""Grouping: transformations that collect elements by keys."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from agog_core import TensorShape, constant, dtypes
from agog_core.errors import InvalidArgumentError
from agog_data import arguments
from agog_data.dataset import Dataset
from agog_data.elements import Element, as_element, map_components
from agog_data.stages.grouping import GroupByWindow
from agog_data.stages.reduction import GroupByReducer

Transformation = Callable[[Dataset], Dataset]


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """Collect elements by keys, and read a dataset that a function makes of each full group.

    At the end, the groups that are not full come in the order of their keys.

    Args:
        key_func: takes the element, a tuple as several arguments; returns a scalar integer.
        reduce_func: takes the key, an int64 scalar, and a dataset of up to ``window_size`` elements with this key;
            returns a dataset.
        window_size: how many elements make a group full.
        window_size_func: takes a key and returns the size for it; one of both is given.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: both sizes are given, or none.
        InvalidArgumentError: ``window_size`` is below 1.

    >>> by_parity = group_by_window(lambda x: x % 2, lambda key, group: group.batch(3), window_size=3)
    >>> [x.numpy().tolist() for x in Dataset.range(8).apply(by_parity)]
    [[0, 2, 4], [1, 3, 5], [6], [7]]
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("group_by_window: must pass either window_size or window_size_func.")
    size_func = window_size_func
    if size_func is None:
        size = arguments.positive("group_by_window", "window_size", window_size)
        size_func = lambda key: size  # noqa: E731
    return lambda dataset: dataset._then(GroupByWindow(dataset._stage, key_func, reduce_func, size_func))


class Reducer:
    """How `group_by_reducer` reduces the elements with one key: by a state that begins, changes and ends.

    Args:
        init_func: takes the key, an int64 scalar; returns the first state, a structure of tensors.
        reduce_func: takes the state and an element, each as one argument; returns the next state.
        finalize_func: takes the last state, a tuple as several arguments; returns an element.
    """

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self._init_func = init_func
        self._reduce_func = reduce_func
        self._finalize_func = finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """The function that makes the first state."""
        return self._init_func

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """The function that makes the next state."""
        return self._reduce_func

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """The function that makes an element."""
        return self._finalize_func


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """Reduce all elements with one key to one element. The whole dataset is read before the first one comes.

    Args:
        key_func: takes the element, a tuple as several arguments; returns a scalar integer.
        reducer: the functions that do it.

    Returns:
        A function for `Dataset.apply`. The elements come in the order of the keys.

    Raises:
        TypeError: ``reducer`` is no `Reducer`.

    >>> total = Reducer(lambda key: 0.0, lambda state, x: state + float(x), lambda state: state)
    >>> [x.numpy() for x in Dataset.range(5).apply(group_by_reducer(lambda x: x % 2, total))]
    [np.float32(6.0), np.float32(4.0)]
    """
    if not isinstance(reducer, Reducer):
        raise TypeError(f"group_by_reducer: a Reducer is expected; got {reducer!r} of type {type(reducer).__name__}.")
    return lambda dataset: dataset._then(
        GroupByReducer(dataset._stage, key_func, reducer.init_func, reducer.reduce_func, reducer.finalize_func)
    )


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
) -> Transformation:
    """Batch elements of similar lengths together, padded.

    Args:
        element_length_func: takes the element, a tuple as several arguments; returns its length, a scalar integer.
        bucket_boundaries: rising lengths; the first bucket is for what is shorter than the first, and so on.
        bucket_batch_sizes: the batch size of each bucket; one more than boundaries.
        padded_shapes: see `Dataset.padded_batch`; None for shapes as long as the longest of each batch.
        padding_values: see `Dataset.padded_batch`.
        pad_to_bucket_boundary: whether unknown sizes are padded to the boundary minus 1, the longest that the bucket
            may hold. They are the None in ``padded_shapes``, or else in the dataset's ``output_shapes``. Then iterating
            raises `InvalidArgumentError` for an element that is not shorter than the last boundary.
        no_padding: whether elements are only batched.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: there are not as many batch sizes as buckets, or the boundaries do not rise.

    >>> import agog_core as ag
    >>> rows = Dataset.from_tensor_slices([1, 4, 2, 5]).map(lambda n: ag.fill([int(n)], n))
    >>> for batch in rows.apply(bucket_by_sequence_length(lambda row: len(row), [3], [2, 2])):
    ...     print(batch.numpy().tolist())
    [[1, 0], [2, 2]]
    [[4, 4, 4, 4, 0], [5, 5, 5, 5, 5]]
    """
    name = "bucket_by_sequence_length"
    boundaries = [arguments.integer(name, "each of bucket_boundaries", each) for each in bucket_boundaries]
    sizes = [arguments.positive(name, "each of bucket_batch_sizes", each) for each in bucket_batch_sizes]
    if len(sizes) != len(boundaries) + 1:
        raise ValueError(
            f"{name}: len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1; "
            f"got {len(sizes)} batch sizes and {len(boundaries)} boundaries."
        )
    if sorted(set(boundaries)) != boundaries:
        raise ValueError(f"{name}: bucket_boundaries must rise; got {boundaries}.")

    @wraps(element_length_func)  # so that errors name the user's function
    def bucket(*element: Any) -> int:
        return bisect_right(boundaries, arguments.integer(name, "the length", element_length_func(*element)))

    def batch(key: Any, group: Dataset) -> Dataset:
        number = int(key)
        if no_padding:
            return group.batch(sizes[number])
        if padded_shapes is not None:
            shapes = padded_shapes
        elif pad_to_bucket_boundary:
            shapes = group.output_shapes
        else:  # what is known of the shapes may be those of the first element
            shapes = map_components(lambda component: [None] * len(component.shape), next(iter(group)))
        if pad_to_bucket_boundary:
            if number == len(boundaries):
                raise InvalidArgumentError(
                    f"{name}: when pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries), "
                    f"which is {max(boundaries, default=None)}."
                )
            shapes = _fill(shapes, boundaries[number] - 1)
        return group.padded_batch(sizes[number], shapes, padding_values)

    size_of = lambda key: sizes[int(key)]  # noqa: E731
    return lambda dataset: dataset._then(GroupByWindow(dataset._stage, bucket, batch, size_of, name))


def _fill(shapes: Any, size: int) -> Any:
    """The shapes, lists or `TensorShape`s in a structure, with a size in the place of None."""

    def filled(shape: Any) -> list[int]:
        return [size if each is None else each for each in TensorShape(shape).as_list()]

    return map_components(filled, shapes)


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
