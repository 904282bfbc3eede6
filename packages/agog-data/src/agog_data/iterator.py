"""Iterator: the elements of a dataset, one after the other, with a position that can be saved."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, NoReturn, Self
from weakref import ref

from agog_core import Checkpointable
from agog_core.errors import InvalidArgumentError, OutOfRangeError
from agog_core.tracers import present_tracer, tracing
from agog_data import display
from agog_data.elements import Described, Element
from agog_data.encoded_state import decode, encode
from agog_data.factory import AnyDataset
from agog_data.stage import Scope
from agog_data.state import check


class Iterator(Checkpointable, Described):
    """The elements of a dataset; ``tfe.Iterator(dataset)``.

    The elements appear on the device that is current when the iterator is made. Threads may share an iterator: each
    element goes to one of them. A checkpoint that holds the iterator holds its position.

    Args:
        dataset: the dataset.

    Raises:
        TypeError: the argument is no dataset, or one that `prefetch_to_device` brings to a device.

    >>> from agog_data import Dataset
    >>> iterator = Iterator(Dataset.range(10))
    >>> int(next(iterator)), int(iterator.get_next())
    (0, 1)
    >>> other = Iterator(Dataset.range(10))
    >>> other.load_state_dict(iterator.state_dict())
    >>> int(next(other))
    2
    """

    def __init__(self, dataset: AnyDataset) -> None:
        if not isinstance(dataset, AnyDataset):
            raise TypeError(f"Iterator: a Dataset is expected; got {dataset!r} of type {type(dataset).__name__}.")
        dataset._check_iterator()
        self._open(dataset)

    def _open(self, dataset: AnyDataset) -> None:
        scope = Scope()
        self._dataset = dataset
        self._run = scope.context().run
        self._elements = dataset._stage.iterate(scope)
        self._elements.start(0)
        self._is_fresh = True  # no element was given, and no place taken over
        self._lock = threading.RLock()
        tracer = present_tracer()
        self._tracer = None if tracer is None else ref(tracer)  # the function that makes it may use it

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Element:
        if (
            tracing
            and (tracer := present_tracer()) is not None
            and (self._tracer is None or tracer is not self._tracer())
        ):
            tracer.take()
        with self._lock:
            element = self._run(next, self._elements)
            self._is_fresh = False
            return element

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "An Iterator cannot be copied or pickled, because threads, files and generators cannot. Make another "
            "one of its dataset, and hand over the place with state_dict() and load_state_dict()."
        )

    def next(self) -> Element:
        """The next element.

        Returns:
            The element.

        Raises:
            StopIteration: there is none.
        """
        return self.__next__()

    def get_next(self, name: str | None = None) -> Element:
        """The next element.

        Returns:
            The element.

        Raises:
            OutOfRangeError: there is none.
        """
        try:
            return self.__next__()
        except StopIteration:
            found = (
                "the dataset has no elements"
                if self._is_fresh
                else "the iterator has given all elements of its dataset"
            )
            raise OutOfRangeError(f"End of sequence: {found}.") from None

    def _spec(self) -> Any:
        return self._dataset._stage.spec()

    def __repr__(self) -> str:
        return display.line(type(self).__name__, self._spec)

    def _repr_html_(self) -> str:
        """The display in notebooks: shapes and dtypes. No element is taken."""
        return display.table(type(self).__name__, self._spec, None)

    def state_dict(self) -> dict[str, Any]:
        """The position, and the random streams behind it.

        Returns:
            A dict that JSON can hold. An iterator over the same stages that loads it continues with the same elements,
            also in another process. It includes elements in the buffer of a shuffle after a map.
        """
        with self._lock:
            return self._run(lambda: encode(self._elements.state_dict()))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue where another iterator, or this one, was.

        Args:
            state: what its `state_dict` returned.

        Raises:
            InvalidArgumentError: the state is one of other stages; this iterator stays where it is.
        """
        if not isinstance(state, Mapping):
            raise InvalidArgumentError(
                f"load_state_dict: a dict is expected; got {state!r} of type {type(state).__name__}."
            )
        with self._lock:
            self._run(self._load, state)

    def _load(self, state: Mapping[str, Any]) -> None:
        decoded = decode(state)
        own = self._elements.state_dict()
        check(decoded, own)
        self._is_fresh = False
        try:
            self._elements.load_state_dict(decoded)
        except Exception:
            # Some parts can be checked only after functions have made their datasets.
            self._elements.load_state_dict(decode(encode(own)))
            raise

    def checkpoint_state(self) -> dict[str, Any]:
        """The state for checkpoints.

        Returns:
            See `state_dict`.
        """
        return self.state_dict()

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        """Take over what a checkpoint holds.

        Args:
            state: what `checkpoint_state` returned.
        """
        self.load_state_dict(state)
