"""Filtering: transformations that leave elements out, and that check them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_data.dataset import Dataset
from agog_data.elements import Element
from agog_data.stages.checks import AssertShape, IgnoreErrors, Skipped
from agog_data.stages.filtering import TakeWhile, Unique

Transformation = Callable[[Dataset], Dataset]


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """End with the first element for which a predicate does not hold.

    Args:
        predicate: takes the element, a tuple as several arguments; returns a bool or a scalar boolean tensor.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        TypeError: the predicate cannot be called.

    >>> [int(x) for x in Dataset.range(9).apply(take_while(lambda x: x * x < 10))]
    [0, 1, 2, 3]
    """
    return lambda dataset: Dataset(TakeWhile(dataset._stage, predicate))


def unique() -> Transformation:
    """Leave out elements that came before in the epoch: those of the same dtypes, shapes and bits.

    What came is kept in memory, and is part of the iterator's state.

    Returns:
        A function for `Dataset.apply`.

    >>> [int(x) for x in Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).apply(unique())]
    [1, 37, 2]
    """
    return lambda dataset: Dataset(Unique(dataset._stage))


class ErrorsIgnored:
    """A transformation that counts skipped elements: `ignore_errors` makes it."""

    def __init__(self) -> None:
        self._skipped = Skipped()

    def __call__(self, dataset: Dataset) -> Dataset:
        """The dataset without elements whose making fails."""
        return Dataset(IgnoreErrors(dataset._stage, self._skipped))

    @property
    def skipped(self) -> int:
        """How many elements were left out so far, in all iterators."""
        return self._skipped.count

    @property
    def last_error(self) -> str | None:
        """Why the last one was: the error's type and text."""
        return self._skipped.last


def ignore_errors() -> ErrorsIgnored:
    """Leave out elements whose making raises an error, and count them.

    An error is raised after a hundred times without progress of earlier stages.

    Returns:
        A function for `Dataset.apply`, with the properties ``skipped`` and ``last_error``.

    >>> errors = ignore_errors()
    >>> [int(x) for x in Dataset.range(-2, 3).map(lambda x: 4 // int(x)).apply(errors)]
    [-2, -4, 4, 2]
    >>> errors.skipped, errors.last_error
    (1, 'ZeroDivisionError: integer division or modulo by zero')
    """
    return ErrorsIgnored()


def assert_element_shape(expected_shapes: Any) -> Transformation:
    """Check the shapes of all elements, which are then known as the dataset's ``output_shapes``.

    Args:
        expected_shapes: in the structure of an element, the shape of each component; None for what is not known.

    Returns:
        A function for `Dataset.apply`. Iterating raises `InvalidArgumentError` if a shape is another one.

    >>> batches = Dataset.range(4).batch(2)
    >>> print(batches.output_shapes, batches.apply(assert_element_shape([2])).output_shapes)
    (?,) (2,)
    """
    return lambda dataset: Dataset(AssertShape(dataset._stage, expected_shapes))


def get_single_element(dataset: Dataset) -> Element:
    """The element of a dataset that has one.

    Args:
        dataset: the dataset.

    Returns:
        The element.

    Raises:
        TypeError: the argument is no dataset.
        InvalidArgumentError: the dataset has no element, or several.

    >>> get_single_element(Dataset.range(10).batch(10)).numpy()
    array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"get_single_element: a Dataset is expected; got {dataset!r} of type {type(dataset).__name__}.")
    elements = list(dataset.take(2))
    if len(elements) != 1:
        raise InvalidArgumentError(
            f"get_single_element: the dataset must have one element; it has {'several' if elements else 'no elements'}."
        )
    return elements[0]
