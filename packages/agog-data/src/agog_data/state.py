"""States of iterators: nested dicts of numbers and tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from agog_core.errors import InvalidArgumentError

State = Mapping[str, Any]
Input = TypeVar("Input", bound="Resumable")


class Resumable(ABC):
    """An object with a position, which can be saved and restored: the iterator of a stage."""

    @abstractmethod
    def start(self, epoch: int) -> None:
        """Begin an epoch, from whose number random stages take their bits; what was left of the one before is
        dropped."""

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """Where the iterator is: a new dict that nobody changes afterwards, cheap to make. ``"stage"`` is the stage's
        name."""

    @abstractmethod
    def load_state_dict(self, state: State) -> None:
        """Go where the iterator of the same stages was that returned this `state_dict`."""


class Unary(Resumable, Generic[Input]):
    """An object with one input, which it starts, saves and restores with its own position."""

    name: str
    """The stage's name in states."""
    fields: ClassVar[tuple[str, ...]] = ()
    """The attributes that are the own position: numbers and flags, which `_begin` sets first."""

    def __init_subclass__(
        cls, *, name: str | None = None, fields: tuple[str, ...] | None = None, **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        if name is not None:
            cls.name = name
        if fields is not None:
            cls.fields = fields

    def __init__(self, source: Input) -> None:
        self._input = source
        self._begin(0)

    def _begin(self, epoch: int) -> None:
        """Set the own position to the beginning of an epoch, before the input is moved."""

    def start(self, epoch: int) -> None:
        self._begin(epoch)
        self._input.start(epoch)

    def state_dict(self) -> dict[str, Any]:
        state = {"stage": self.name, "input": self._input.state_dict()}
        for field in self.fields:
            state[field] = getattr(self, field)
        return state

    def load_state_dict(self, state: State) -> None:
        self._begin(state.get("epoch", 0))  # stages without random bits save none
        for field in self.fields:
            setattr(self, field, state[field])
        self._input.load_state_dict(state["input"])


def check(state: Any, own: Any, path: str = "state") -> None:
    """Raise InvalidArgumentError unless a state is one of the same stages as the iterator's own, before anything
    changes."""
    if isinstance(own, dict):
        if not isinstance(state, Mapping):
            raise _unfit(path, f"is {state!r}", "a dict is expected")
        if own.get("stage") != state.get("stage"):
            raise _unfit(
                path, f"is of stage {state.get('stage')!r}", f"the iterator has stage {own.get('stage')!r} there"
            )
        if own.keys() != state.keys():
            raise _unfit(path, f"has the keys {sorted(state)}", f"{sorted(own)} are expected")
        for key, part in own.items():
            # Only the lengths of these may differ.
            check(state[key], [] if key in ("buffer", "nested") else part, f"{path}[{key!r}]")
    elif isinstance(own, list):
        if not isinstance(state, list):
            raise _unfit(path, f"is {state!r}", "a list is expected")
        if own and len(own) != len(state):
            raise _unfit(path, f"has {len(state)} parts", f"{len(own)} are expected")
        for number, part in enumerate(own):
            check(state[number], part, f"{path}[{number}]")
    elif type(state) is not type(own):
        raise _unfit(path, f"is {state!r}", f"a value of type {type(own).__name__} is expected")
    elif isinstance(own, int) and state < 0:
        raise _unfit(path, f"is {state!r}", "it cannot be negative")


def _unfit(path: str, found: str, expected: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"load_state_dict: {path} {found}; {expected}. "
        "A state fits only an iterator over a dataset with the same stages."
    )
