"""Optionals: values that may be missing; and TensorFlow's functions to save iterators."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, convert_to_tensor
from agog_core.errors import InvalidArgumentError
from agog_data.elements import Element, map_components
from agog_data.iterator import Iterator


class Optional:
    """An element, or none: `from_value` and `none_from_structure` make it, and `get_next_as_optional`.

    Args:
        value: the element; None for none.
        structure: for none, the structure that an element would have.

    >>> one, none = Optional.from_value((1, 2)), Optional.none_from_structure((1, 2))
    >>> bool(one.has_value()), bool(none.has_value())
    (True, False)
    >>> [int(x) for x in one.get_value()]
    [1, 2]
    """

    def __init__(self, value: Element, structure: Any) -> None:
        self._value = value
        self._structure = structure

    @staticmethod
    def from_value(value: Any) -> Optional:
        """One with a value.

        Args:
            value: tensors or what converts to them, in any structure.

        Returns:
            The optional.
        """
        element = map_components(convert_to_tensor, value)
        return Optional(element, element)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """One without a value.

        Args:
            value_structure: the structure that a value would have, such as a dataset's ``output_types``.

        Returns:
            The optional.
        """
        return Optional(None, value_structure)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value.

        Returns:
            A scalar boolean tensor.
        """
        return convert_to_tensor(self._value is not None)

    def get_value(self, name: str | None = None) -> Element:
        """The value.

        Returns:
            The element.

        Raises:
            InvalidArgumentError: there is none.
        """
        if self._value is None:
            raise InvalidArgumentError("Optional.get_value: there is no value; ask has_value() first.")
        return self._value

    @property
    def value_structure(self) -> Any:
        """The structure of a value: the value, or for none what it was made of."""
        return self._structure


def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element, or none if there is no more.

    Args:
        iterator: the iterator.

    Returns:
        An `Optional`.

    Raises:
        TypeError: the argument is no iterator of a dataset.

    >>> from agog_data import Dataset
    >>> iterator = iter(Dataset.range(1))
    >>> bool(get_next_as_optional(iterator).has_value()), bool(get_next_as_optional(iterator).has_value())
    (True, False)
    """
    _check("get_next_as_optional", iterator)
    for element in iterator:
        return Optional(element, element)
    return Optional.none_from_structure(iterator.output_types)


def make_saveable_from_iterator(iterator: Iterator) -> Iterator:
    """The saveable position of an iterator: the iterator itself, a part of checkpoints like a variable.

    Args:
        iterator: the iterator.

    Returns:
        The same; ``tf.train.Checkpoint(iterator=iterator)`` saves it.

    Raises:
        TypeError: the argument is no iterator of a dataset.
    """
    _check("make_saveable_from_iterator", iterator)
    return iterator


def _check(name: str, iterator: Any) -> None:
    if not isinstance(iterator, Iterator):
        raise TypeError(f"{name}: an iterator of a dataset is expected; got {iterator!r}.")
