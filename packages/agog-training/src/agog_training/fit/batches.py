"""Batches: from arrays, datasets and generators to batches."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

from agog_core import Tensor, device, nest, random_shuffle
from agog_core import range as numbers


class Batch(NamedTuple):
    """Inputs, and what goes with them.

    Attributes:
        x: the model's inputs.
        y: the labels; None if there are none.
        weights: a weight for each example, or a structure of them; None for 1.
    """

    x: Any
    y: Any = None
    weights: Any = None

    @property
    def size(self) -> int:
        """The number of examples."""
        return int(nest.flatten(self.x)[0].shape[0])


class OwnBatch(Batch):
    """The rows of one of several processes that share a batch; ``rows`` of them count, where 0 has one all the same."""

    rows: int

    @classmethod
    def of(cls, parts: Iterable[Any], rows: int) -> OwnBatch:
        """The batch of inputs, labels and weights."""
        made = cls(*parts)
        made.rows = rows
        return made


class Batches(Protocol):
    """The data of a training, which gives the batches of an epoch again and again."""

    steps: int | None
    """How many batches an epoch has; None when that is not known."""

    def epoch(self) -> Iterator[Batch]:
        """The batches of the next epoch."""


class ArrayBatches:
    """Batches of arrays, whose first axis counts examples; the last batch has the rest.

    ``what`` is the caller's name, for errors. With ``shuffle`` each epoch has its own order, from `set_random_seed`.

    >>> import numpy as np
    >>> batches = ArrayBatches("fit", np.arange(5), np.arange(5) ** 2, batch_size=2)
    >>> [(batch.x.tolist(), batch.y.tolist()) for batch in batches.epoch()]
    [([0, 1], [0, 1]), ([2, 3], [4, 9]), ([4], [16])]
    """

    def __init__(
        self, what: str, x: Any, y: Any = None, weights: Any = None, batch_size: int = 32, shuffle: bool = False
    ) -> None:
        self._parts = [_arrays(part) for part in (x, y, weights)]
        self._batch_size, self._shuffle = batch_size, shuffle
        named = zip(("x", "y", "sample_weight"), self._parts, strict=True)
        sizes = [
            (name, _examples(what, name, leaf))
            for name, part in named
            for leaf in nest.flatten(part)
            if leaf is not None
        ]
        self.examples = sizes[0][1]
        if batch_size < 1:
            raise ValueError(f"{what}: batch_size must be at least 1; got {batch_size}.")
        if any(size != self.examples for _, size in sizes):
            told = ", ".join(f"{name} {size}" for name, size in sizes)
            raise ValueError(f"{what}: the arrays must have equally many examples; got {told}.")
        if not self.examples:
            raise ValueError(f"{what}: there are no examples: the arrays are empty.")
        self.steps: int | None = -(-self.examples // batch_size)

    def epoch(self) -> Iterator[Batch]:
        """The batches of all examples, once."""
        with device("/cpu:0"):  # a device would have to be waited for
            order = random_shuffle(numbers(self.examples)).numpy() if self._shuffle else None
        for start in range(0, self.examples, self._batch_size):
            rows = slice(start, start + self._batch_size)
            yield self.rows(rows if order is None else order[rows])

    def rows(self, rows: Any) -> Batch:
        """The examples of a slice, or at an array of positions."""
        return Batch(*(nest.map_structure(lambda leaf: None if leaf is None else leaf[rows], p) for p in self._parts))

    def split(self, share: float) -> tuple[ArrayBatches, ArrayBatches]:
        """The first examples, and the share of the last; raises ValueError if either side would have none."""
        first = int(self.examples * (1.0 - share)) if 0 < share < 1 else 0
        if not 0 < first < self.examples:
            raise ValueError(
                f"fit: validation_split must leave examples on both sides; got {share} for {self.examples} examples."
            )
        parts = self.rows(slice(0, first)), self.rows(slice(first, None))
        one, two = (
            ArrayBatches("fit", *part, batch_size=self._batch_size, shuffle=self._shuffle and part is parts[0])
            for part in parts
        )
        return one, two


class StreamBatches:
    """Batches of a dataset, a generator, or anything else that gives ``x``, ``(x, y)`` or ``(x, y, sample_weight)``.

    With ``steps`` an epoch has so many, and the next one goes on where it ended. ``weights`` are those of classes.
    """

    def __init__(
        self, what: str, source: Iterable[Any], steps: int | None = None, weights: Mapping[int, float] | None = None
    ) -> None:
        self.steps, self._class_weight = steps, weights
        self.what, self.source = what, source
        # Whether the source has given all it had before an epoch was over, so that there is no further one.
        self.has_ended = False
        self._has_begun = False
        self._iterator: Iterator[Any] | None = None

    def epoch(self) -> Iterator[Batch]:
        """The batches of the next epoch; a warning if the source ends before that, and a ValueError if it gives no
        batches.
        """
        count = 0
        for element in self._elements():
            count += 1
            yield self._batch(element)
        if not count and iter(self.source) is not self.source:
            raise ValueError(f"{self.what}: the {type(self.source).__name__} has no elements, so there is no batch.")
        if not count or (self.steps is not None and count < self.steps):
            self._end(count)
        self._has_begun = True

    def _end(self, count: int) -> None:
        wanted = "a batch" if self.steps is None else f"{self.steps} batches"
        text = (
            f"{self.what}: an epoch needs {wanted}, and the data ended after {count}. A generator gives its data "
            "once: pass a Dataset, or one that repeats; or ask for fewer steps or epochs."
        )
        if not count and not self._has_begun:
            raise ValueError(text)
        warnings.warn(f"{text} There are no further epochs.", UserWarning, stacklevel=4)
        self.has_ended = True

    def _elements(self) -> Iterator[Any]:
        if self.steps is None:
            yield from self.source
            return
        if self._iterator is None:
            self._iterator = iter(self.source)
        given = 0
        for element in islice(self._iterator, self.steps):
            given += 1
            yield element
        if given < self.steps and iter(self.source) is not self.source:
            self._iterator = iter(self.source)
            yield from islice(self._iterator, self.steps - given)

    def _batch(self, element: Any) -> Batch:
        if getattr(self.source, "is_distributed", False):  # by a strategy
            batch = self._batch_of(element)
            return OwnBatch.of(batch, batch.size)
        return self._batch_of(element)

    def _batch_of(self, element: Any) -> Batch:
        if not isinstance(element, tuple):
            return Batch(element)
        if not 1 <= len(element) <= 3:
            raise ValueError(
                f"{self.what}: data must give x, (x, y) or (x, y, sample_weight); got a tuple of {len(element)}."
            )
        return weighted(Batch(*element), self._class_weight, self.what)


def weighted(batch: Batch, weights: Mapping[int, float] | None, what: str) -> Batch:
    """The batch, with the weights of its examples times those of their classes, which need one array of labels."""
    if weights is None:
        return batch
    if nest.is_nested(batch.y) or batch.y is None:
        raise ValueError(f"{what}: class_weight goes with one array of labels; pass sample_weight instead.")
    of_classes = class_weights(batch.y, weights, what)
    return batch._replace(weights=of_classes if batch.weights is None else of_classes * np.asarray(batch.weights))


def make_batches(
    what: str,
    x: Any,
    y: Any = None,
    weights: Any = None,
    batch_size: int | None = None,
    steps: int | None = None,
    shuffle: bool = False,
    class_weight: Mapping[int, float] | None = None,
    limit: str = "steps",
) -> Batches:
    """Make batches of the arguments of `fit`, `evaluate` or `predict`, documented there.

    ``limit`` is what they call the steps. Raises ValueError if the arguments do not go together, and where batches
    would never end.
    """
    if not is_arrays(x):
        for name, value in (("y", y), ("sample_weight", weights), ("batch_size", batch_size)):
            if value is not None:
                refuse_beside(what, name, x)
        if not isinstance(x, Iterable):
            raise TypeError(
                f"{what}: x must be arrays, or something to iterate over that gives batches, as a Dataset does; got "
                f"{x!r} of type {type(x).__name__}."
            )
        if steps is None and never_ends(x):
            raise ValueError(
                f"{what}: the data never ends, so you should specify the `{limit}` argument, the number of batches to "
                "take; or end the data with dataset.take(n), or with dataset.repeat(n) in place of dataset.repeat()."
            )
        if steps is None and hasattr(x, "output_shapes") and isinstance(x, Iterator):
            raise ValueError(
                f"{what}: an iterator of a Dataset gives its data once, so you should specify the `{limit}` argument, "
                "the number of batches to take; or pass the Dataset."
            )
        return StreamBatches(what, x, steps, class_weight)
    x, y, weights = weighted(Batch(x, y, weights), class_weight, what)
    batches = ArrayBatches(what, x, y, weights, 32 if batch_size is None else batch_size, shuffle)
    return batches if steps is None else StreamBatches(what, _Epochs(batches), steps)


class _Epochs:
    """Lets steps be counted over arrays."""

    def __init__(self, batches: ArrayBatches) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[Any]:
        return (tuple(batch) for batch in self._batches.epoch())


def refuse_beside(what: str, name: str, x: Any) -> NoReturn:
    """Raise a ValueError for an argument that goes with arrays, in the words of TensorFlow."""
    kind = "dataset or a dataset iterator" if hasattr(x, "output_shapes") else type(x).__name__
    hint = "It gives batches (x, y) or (x, y, sample_weight) itself."
    if name == "y":
        hint = "you should not specify a target, since it gives batches (x, y) itself."
    elif name == "validation_split":
        hint = "Pass validation_data instead."
    raise ValueError(f"{what}: `{name}` argument is not supported when input `x` is a {kind}: {hint}")


def one_batch(what: str, x: Any, y: Any = None, weights: Any = None) -> Batch:
    """The batch ``x``, or the next batch of a stream ``x``; raises ValueError if it gives none, or where there are
    labels or weights beside it.
    """
    if is_arrays(x) or not isinstance(x, Iterable) or nest.is_nested(x):
        return Batch(x, y, weights)
    return next(make_batches(what, x, y, weights, steps=1).epoch())


class OneBatch:
    """A single batch."""

    steps: int | None = 1

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def epoch(self) -> Iterator[Batch]:
        """That batch."""
        yield self._batch


def validation_batches(data: Any, batch_size: int | None, steps: int | None) -> Batches:
    """Make batches of the ``validation_data`` of `fit`; raises ValueError if it is something else."""
    if not isinstance(data, (tuple, list)):
        return make_batches("fit", data, steps=steps, limit="validation_steps")
    if len(data) not in (2, 3):
        raise ValueError(
            f"fit: validation_data must be (x, y), (x, y, sample_weight), or batches; got a {type(data).__name__} of "
            f"{len(data)}."
        )
    x, y, weights = (*data, None)[:3]
    return make_batches("fit", x, y, weights, batch_size, steps)


def never_ends(x: Any) -> bool:
    """Whether data is known to be infinite, such as a repeated dataset; of generators nothing is known.

    >>> never_ends(cycle([1])), never_ends(iter([1]))
    (True, False)
    """
    asked = getattr(x, "_never_ends", None)
    return isinstance(x, cycle) or (callable(asked) and bool(asked()))


def is_arrays(x: Any) -> bool:
    """Whether a value is arrays or tensors, or a structure of them, and no stream of batches."""
    leaves = nest.flatten(x)
    return bool(leaves) and all(hasattr(leaf, "shape") or isinstance(leaf, (int, float, str, bytes)) for leaf in leaves)


def class_weights(y: Any, weights: Mapping[int, float], what: str = "fit") -> Any:
    """The weight of each example by its class, of shape (examples,), in float32.

    ``y`` are classes as numbers, of shape (examples,) or (examples, 1), or one-hot, of shape (examples, classes).

    >>> class_weights(np.array([0, 1, 1]), {0: 1.0, 1: 0.5})
    array([1. , 0.5, 0.5], dtype=float32)
    """
    labels = np.asarray(y)
    classes = labels.argmax(-1) if labels.ndim == 2 and labels.shape[1] > 1 else labels.reshape(len(labels))
    missing = sorted({int(each) for each in np.unique(classes)} - {int(each) for each in weights})
    if missing:
        raise ValueError(f"{what}: class_weight has no weights for the classes {missing}; it has {dict(weights)}.")
    return np.array([weights[int(each)] for each in classes], np.float32)


def for_symbols(part: Any, symbols: Sequence[Any] | None) -> Any:
    """Arrays of lists of numbers, where a model has several inputs or outputs and gets a list for each.

    >>> for_symbols([[1, 2], [3, 4]], ["one", "two"])
    [array([1, 2]), array([3, 4])]
    """
    is_list_for_each = isinstance(part, list) and symbols is not None and 1 < len(symbols) == len(part)
    return [np.asarray(each) if isinstance(each, list) else each for each in part] if is_list_for_each else part


def _arrays(part: Any) -> Any:
    """Arrays on the host, in the same structure; a list of numbers or texts is one array."""
    if nest.is_nested(part) and all(isinstance(leaf, (int, float, str, bytes)) for leaf in nest.flatten(part)):
        return np.asarray(part)
    return nest.map_structure(_host, part)


def _host(leaf: Any) -> Any:
    if leaf is None:
        return None
    return leaf.numpy() if isinstance(leaf, Tensor) else np.asarray(leaf)


def _examples(what: str, name: str, leaf: Any) -> int:
    if not leaf.ndim:
        raise ValueError(f"{what}: {name} must be arrays whose first axis counts examples; got a scalar.")
    return len(leaf)
