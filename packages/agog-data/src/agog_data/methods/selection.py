"""Selection: methods of datasets that choose among elements, without a look into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agog_core.calls.docstrings import documented_like
from agog_data import arguments
from agog_data.methods.pipeline import Pipeline
from agog_data.stages.combining import Concatenate
from agog_data.stages.selection import Repeat, Shuffle, Skip, Take

if TYPE_CHECKING:
    from agog_data.dataset import Dataset

_EVERYTHING = 2**63 - 1
_LARGEST_BUFFER = 2**32 - 1


class SelectionMethods(Pipeline):
    """Methods of datasets that choose among elements, without a look into them."""

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
        size = arguments.positive("shuffle", "buffer_size", buffer_size)
        op_seed = None if seed is None else arguments.integer("shuffle", "seed", seed)
        return self._then(
            Shuffle(self._stage, min(size, _LARGEST_BUFFER), op_seed, reshuffle_each_iteration is not False)
        )

    def repeat(self, count: Any = None) -> Dataset:
        """The elements several times.

        Args:
            count: how many times; None or -1 for no end.

        Returns:
            The dataset.

        Raises:
            InvalidArgumentError: ``count`` is below -1.
        """
        times = arguments.count("repeat", -1 if count is None else count)
        return self.take(0) if times == 0 else self._then(Repeat(self._stage, None if times < 0 else times))

    @documented_like(repeat)
    def take(self, count: Any) -> Dataset:
        """The first elements.

        Args:
            count: how many; -1 for all.
        """
        number = arguments.count("take", count)
        return self._then(Take(self._stage, _EVERYTHING if number < 0 else number))

    @documented_like(repeat)
    def skip(self, count: Any) -> Dataset:
        """The elements but for the first ones.

        Args:
            count: how many to leave out; -1 for all.
        """
        number = arguments.count("skip", count)
        return self.take(0) if number < 0 else self._then(Skip(self._stage, number))

    def concatenate(self, dataset: Dataset) -> Dataset:
        """All elements of this dataset, then all of another.

        Args:
            dataset: the other one; its elements have the same structure and dtypes.

        Returns:
            The dataset.

        Raises:
            TypeError: the argument is no dataset.
        """
        if not isinstance(dataset, Pipeline):
            raise TypeError(f"concatenate: a Dataset is expected; got {dataset!r} of type {type(dataset).__name__}.")
        return self._then(Concatenate(self._stage, dataset._stage))
