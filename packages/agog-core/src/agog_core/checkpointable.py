"""Checkpointable: objects with a state to save; attribute assignment names the parts."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

from agog_core.settable import Settable

if TYPE_CHECKING:
    from agog_core.variables.variable import Variable


__all__ = ["Checkpointable"]

# Called after an object that can be saved has got a new part, with the object, the part's name and the part, as far as
# these are known. A restore that still waits for variables listens here.
listeners: list[Callable[..., None]] = []


class State:
    """Base of what a checkpoint saves: variables, and `Checkpointable` objects with their parts."""

    __slots__ = ()


class NoDependency:
    """Marks a value as no part to save, in an attribute or in a list or dict that is a part.

    The attribute, list or dict holds the value itself; a list or dict with marks is copied for that. A mark that is put
    later into a plain list or dict is an error at its use; `tf.contrib.checkpoint.List` and ``Mapping`` unwrap it.

    Args:
        value: the value.

    >>> from agog_core import Variable
    >>> counter = Checkpointable()
    >>> counter.steps = NoDependency(Variable(3))
    >>> int(counter.steps), counter.checkpoint_dependencies()
    (3, {})
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "value":  # Python asks for these itself, also before there is a value
            raise AttributeError(name)
        raise AttributeError(self._advice(f"has no attribute {name!r}"))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise TypeError: the value should have been called."""
        raise TypeError(self._advice("cannot be called"))

    def __getitem__(self, key: Any) -> Any:
        raise TypeError(self._advice("has no parts"))

    def _advice(self, what: str) -> str:
        return (
            f"NoDependency {what}: it marks a {type(self.value).__name__}, and nothing has unwrapped it, since it is "
            "in a tuple, or came into a plain list or dict after that was assigned to an attribute. Put it into a "
            "tf.contrib.checkpoint.List or Mapping, or take its value."
        )


class Checkpointable(State, Settable):
    """Base of objects with state: layers, models, optimizers, iterators, and what users derive.

    Every attribute that is a variable, a `Checkpointable`, or a list, tuple or dict with such parts, is a named
    dependency: a checkpoint saves it under the attribute's name, and restores it as soon as it exists.

    >>> from agog_core import Variable
    >>> class Counter(Checkpointable):
    ...     def __init__(self):
    ...         self.steps = Variable(0)
    >>> list(Counter().checkpoint_dependencies())
    ['steps']
    """

    _no_dependencies: set[str]

    def __setattr__(self, name: str, value: Any) -> None:
        if type(value) is NoDependency:
            vars(self).setdefault("_no_dependencies", set()).add(name)
            value = value.value
        else:
            if "_no_dependencies" in vars(self):
                self._no_dependencies.discard(name)
            value = unwrapped(value)
        super().__setattr__(name, value)
        if listeners and is_checkpointable(value):
            notify(self, name, value)

    def checkpoint_dependencies(self) -> dict[str, Any]:
        """The parts that have state, by name.

        Returns:
            Attribute names to variables, checkpointables, and lists, tuples or dicts of those.
        """
        without = vars(self).get("_no_dependencies", ())
        every = vars(self).copy()  # a restore may ask while another thread makes parts
        return {name: value for name, value in every.items() if is_checkpointable(value) and name not in without}

    def _track_checkpointable(self, checkpointable: Any, name: str, overwrite: bool = False) -> Any:
        """TensorFlow's way to add a part that is no attribute yet; old programs call it."""
        setattr(self, name, checkpointable)
        return checkpointable

    def checkpoint_dependency(self, name: str) -> Any:
        """One part with state, at constant cost. A class that overrides `checkpoint_dependencies` should override this
        too: a restore that waits looks at all parts otherwise.

        Args:
            name: its name.

        Returns:
            The part; None if there is none, or where only `checkpoint_dependencies` can tell.
        """
        return None if name in vars(self).get("_no_dependencies", ()) else vars(self).get(name)

    def checkpoint_state(self) -> dict[str, Any]:
        """State that is not in variables, such as a position.

        Returns:
            Names to values that JSON can hold; empty for most objects.
        """
        return {}

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        """Take over what `checkpoint_state` returned when the checkpoint was saved.

        Args:
            state: names to values.
        """

    def checkpoint_slots(self) -> Iterator[tuple[str, Variable, Variable]]:
        """Variables that belong to pairs of this object and another object's variable, as an optimizer's slots do.

        Returns:
            An iterator of (slot name, the other object's variable, slot variable).
        """
        return iter(())

    def make_checkpoint_slots(self, variable: Variable, names: Container[str]) -> Mapping[str, Variable]:
        """The slots of another object's variable, which a restore asks for; what can make them does so now.

        Args:
            variable: the other object's variable.
            names: the names of the slots that the checkpoint has for it.

        Returns:
            Names to slots: those that `checkpoint_slots` has of the variable from now on.
        """
        return {name: slot for name, owner, slot in self.checkpoint_slots() if owner is variable}

    def values_after_steps(self, steps: int) -> Mapping[str, float]:
        """Own variables whose values follow from a number of steps, for checkpoints that have that number alone.

        Args:
            steps: how many steps an optimizer has made.

        Returns:
            Names of variables, which are made, to their values; empty for most objects.
        """
        return {}


class MarkingList(list[Any]):
    """A list from a `NoDependency`, marked as no part to save."""

    _unsaved: tuple[Any, ...] = ()

    def __init__(self, parts: Iterable[Any] = ()) -> None:
        super().__init__()
        self.extend(parts)

    def append(self, part: Any) -> None:
        """See `list.append`."""
        super().append(_unmarked(self, part))

    def extend(self, parts: Iterable[Any]) -> None:
        """See `list.extend`."""
        super().extend([_unmarked(self, part) for part in parts])

    def insert(self, index: SupportsIndex, part: Any) -> None:
        """See `list.insert`."""
        super().insert(index, _unmarked(self, part))

    def __setitem__(self, key: Any, value: Any) -> None:
        is_slice = isinstance(key, slice)
        super().__setitem__(key, [_unmarked(self, part) for part in value] if is_slice else _unmarked(self, value))

    def __iadd__(self, parts: Iterable[Any]) -> Self:  # type: ignore[misc]  # as a list does
        self.extend(parts)
        return self


class MarkingDict(dict[str, Any]):
    """A dict from a `NoDependency`, marked as no part to save."""

    _unsaved: tuple[Any, ...] = ()

    def __init__(self, *parts: Any, **named: Any) -> None:
        super().__init__()
        self.update(*parts, **named)

    def __setitem__(self, key: str, part: Any) -> None:
        super().__setitem__(key, _unmarked(self, part))

    def update(self, *parts: Any, **named: Any) -> None:
        """See `dict.update`."""
        for key, part in dict(*parts, **named).items():
            self[key] = part

    def setdefault(self, key: str, default: Any = None) -> Any:
        """See `dict.setdefault`."""
        return super().setdefault(key, _unmarked(self, default))

    def __ior__(self, parts: Any) -> Self:  # type: ignore[override, misc]  # as a dict does
        self.update(parts)
        return self


def _unmarked(container: Any, part: Any) -> Any:
    if type(part) is not NoDependency:
        return part
    container._unsaved = (*container._unsaved, part.value)
    return part.value


def unwrapped(value: Any, around: tuple[Any, ...] = ()) -> Any:
    """A list or dict with the values of each `NoDependency` inside; itself if there is none.

    >>> unwrapped([1, {"a": NoDependency(2)}])
    [1, {'a': 2}]
    """
    if type(value) is not list and type(value) is not dict:
        return value
    parts: Any = value.values() if isinstance(value, dict) else value
    kinds = set(map(type, parts))
    if not kinds & {NoDependency, list, dict} or any(value is each for each in around):
        return value
    new = [unwrapped(part, (*around, value)) for part in parts]
    if NoDependency not in kinds and all(one is other for one, other in zip(new, parts, strict=True)):
        return value
    return MarkingList(new) if type(value) is list else MarkingDict(zip(value, new, strict=True))


def unsaved(container: Any) -> set[int]:
    """The ids of those parts of a list or dict that a `NoDependency` marks as none to save."""
    marked = getattr(container, "_unsaved", None)
    return set(map(id, marked)) if marked else set()


def is_checkpointable(value: Any) -> bool:
    """Whether a value has state to save, or is a list or dict with such a part, or an empty one, which may get one."""
    if isinstance(value, State):
        return True
    if isinstance(value, Mapping):
        return not value or any(is_checkpointable(part) for part in list(value.values()))
    if isinstance(value, (list, tuple)):
        return (isinstance(value, list) and not value) or any(is_checkpointable(part) for part in value)
    return False


def notify(*news: Any) -> None:
    """Tell those who wait that an object has got a new part: the object, the part's name and the part, as far as these
    are known."""
    for listener in list(listeners):
        listener(*news)
