"""Sharding: methods of datasets that part elements by their number."""

from __future__ import annotations

import math
from collections import namedtuple
from itertools import accumulate, pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from agog_core.errors import InvalidArgumentError
from agog_data import arguments
from agog_data.methods.pipeline import Pipeline
from agog_data.stage import Stage
from agog_data.stages.batch_sharding import Share, shared
from agog_data.stages.selection import Take
from agog_data.stages.sharding import Chosen, Part, Shard

if TYPE_CHECKING:
    from agog_data.dataset import Dataset

# What fractions are rounded to: hundredths, thousandths, thirds, sevenths, ninths and sixteenths are exact.
_UNITS = 126_000


class ShardingMethods(Pipeline):
    """Methods of datasets that part elements by their number."""

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """The elements whose number, divided by ``num_shards``, leaves the rest ``index``.

        Args:
            num_shards: how many shards there are.
            index: which of them this is.

        Returns:
            The dataset.

        Raises:
            ValueError: ``num_shards`` is below 1, or ``index`` is not in [0, num_shards).

        >>> from agog_data import Dataset
        >>> [int(x) for x in Dataset.range(8).shard(3, 1)]
        [1, 4, 7]
        """
        return self._then(Chosen(self._stage, Shard(*_shard("shard", num_shards, index))))

    def shard_batches(self, num_shards: Any, index: Any) -> Dataset:
        """Of each batch the rows for one of several processes, which take a step by all of it together.

        The processes get the same batches, also where the number of rows or batches cannot be divided: one has a row
        more than another, or none. An iterator's `state_dict` is the same in all of them, and fits iterators over
        another number of shards. Processes that shuffle need the same seed.

        Args:
            num_shards: how many processes there are.
            index: which of them this is.

        Returns:
            A dataset of as many elements, with some neighbouring rows of each. Iterating raises `InvalidArgumentError`
            where the components of an element have no first axis of one size.

        Raises:
            ValueError: ``num_shards`` is below 1, or ``index`` is not in [0, num_shards).

        >>> from agog_data import Dataset
        >>> [batch.numpy().tolist() for batch in Dataset.range(9).batch(6).shard_batches(4, 0)]
        [[0, 1], [6]]
        >>> [batch.numpy().tolist() for batch in Dataset.range(9).batch(6).shard_batches(4, 3)]
        [[5], []]
        """
        return self._then(shared(self._stage, Share(*_shard("shard_batches", num_shards, index))))

    def split(self, *, seed: Any = 0, **parts: Any) -> Any:
        """Disjoint parts of the dataset: ``split(train=0.8, test=0.2)``.

        An element's part is a function of seed and element number, the same in each epoch, iterator and process; more
        elements at the end change nothing for those before. Of each block of elements the parts get their exact shares,
        in random places: a block has as many elements as the fractions need, 5 for 0.8 and 0.2. Shuffle and repeat the
        parts, not what is split.

        Args:
            seed: another seed gives another split; the graph seed has no part in it.
            **parts: for each part a fraction, or for each part a count. Fractions are rounded to 1/126000; where they
                add up to less than 1, the rest is in no part. Counts divide the first elements; those after are in no
                part.

        Returns:
            A namedtuple of datasets, by the names of the parts.

        Raises:
            TypeError: parts are neither all fractions nor all counts.
            InvalidArgumentError: a part is empty or the fractions add up to more than 1; or the elements before the
                split have no fixed numbers, as behind ``repeat`` or ``shuffle``.

        >>> from agog_data import Dataset
        >>> train, test = Dataset.range(10).split(train=0.8, test=0.2)
        >>> len(list(train)), len(list(test)), {int(x) for x in train} & {int(x) for x in test}
        (8, 2, set())
        """
        number = arguments.integer("split", "seed", seed)
        if not parts:
            raise TypeError("split: at least one part is expected, such as train=0.8 or train=50000.")
        if any(name.startswith("_") for name in parts):
            raise ValueError(f"split: names of parts cannot begin with an underscore; got {list(parts)}.")
        reason = self._stage.unsettled()
        if reason:
            raise InvalidArgumentError(
                "split: the elements must have the same numbers each time, or one could be in two parts, "
                f"but {reason}. Split first, then shuffle and repeat the parts."
            )
        before: Stage = self._stage
        if all(isinstance(share, Integral) and not isinstance(share, bool) for share in parts.values()):
            bounds = _counts({name: int(share) for name, share in parts.items()})
            size, before = bounds[-1], Take(self._stage, bounds[-1])
        elif all(isinstance(share, Real) and not isinstance(share, Integral) for share in parts.values()):
            *bounds, size = _fractions({name: float(share) for name, share in parts.items()})
        else:
            raise TypeError(f"split: parts must be all fractions (floats) or all counts (ints); got {parts}.")
        kind: Any = namedtuple("Split", parts)  # type: ignore[misc]  # the names are known only here
        return kind(*[self._then(Chosen(before, Part(number, size, *ranks))) for ranks in pairwise(bounds)])


def _shard(what: str, num_shards: Any, index: Any) -> tuple[int, int]:
    shards = arguments.integer(what, "num_shards", num_shards)
    number = arguments.integer(what, "index", index)
    if shards < 1:
        raise ValueError(f"{what}: num_shards must be at least 1; got {shards}.")
    if not 0 <= number < shards:
        raise ValueError(f"{what}: index must be at least 0 and less than num_shards = {shards}; got {number}.")
    return shards, number


def _counts(counts: dict[str, int]) -> list[int]:
    """The bounds of the parts in a block of all elements."""
    if min(counts.values()) < 1:
        raise InvalidArgumentError(f"split: each part needs at least one element; got {counts}.")
    return [0, *accumulate(counts.values())]


def _fractions(fractions: dict[str, float]) -> list[int]:
    """The bounds of the parts in the smallest block that they divide; and its size."""
    bounds = [0, *[round(bound * _UNITS) for bound in accumulate(fractions.values())]]
    if not all(begin < end for begin, end in pairwise(bounds)) or bounds[-1] > _UNITS:
        raise InvalidArgumentError(
            f"split: fractions must be positive, at least 1/{_UNITS}, and add up to at most 1; got {fractions}."
        )
    unit = math.gcd(*bounds, _UNITS)
    return [bound // unit for bound in [*bounds, _UNITS]]
