"""Containers: the lists and dicts of ``tf.contrib.checkpoint``, and the saving of plain ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, SupportsIndex

from agog_core.checkpointable import (
    Checkpointable,
    MarkingDict,
    MarkingList,
    NoDependency,
    is_checkpointable,
    listeners,
    notify,
    unsaved,
)
from agog_core.variables.variable import Variable

__all__ = ["List", "Mapping", "UniqueNameTracker"]


class _Hashable:
    """Equal to itself only, as tensors and variables are, so that sets and dicts can hold it."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


class _Parts:
    """The parts of a container: its layers, and all variables."""

    trainable: bool = True

    @property
    def layers(self) -> list[Any]:
        """The layers and models among the parts, and those of parts that are containers, in order."""
        return _layers(self)

    @property
    def variables(self) -> list[Variable]:
        """The variables of all parts, in order; of a dict in the order of the keys."""
        return _variables(self, "variables")

    @property
    def trainable_variables(self) -> list[Variable]:
        """The trainable variables of all parts; none where `trainable` is False."""
        return _variables(self, "trainable_variables") if self.trainable else []

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """The other variables of all parts: those that are not trained."""
        trained = set(map(id, self.trainable_variables))
        return [variable for variable in self.variables if id(variable) not in trained]

    @property
    def losses(self) -> list[Any]:
        """The losses of all layers among the parts."""
        return [loss for layer in self.layers for loss in layer.losses]

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


class List(_Parts, _Hashable, MarkingList):  # type: ignore[misc]  # a list has no hash
    """A list of layers, variables and the like, which knows their variables; ``==`` compares identity.

    >>> parts = List([Variable(1.0), Variable(2.0, trainable=False)])
    >>> len(parts.variables), len(parts.trainable_variables)
    (2, 1)
    """

    def append(self, value: Any) -> None:
        """See `list.append`; a restore that waits for the part gives it its value."""
        super().append(value)
        if listeners and type(value) is not NoDependency:
            notify(self, str(len(self) - 1), value)

    def extend(self, values: Iterable[Any]) -> None:
        """See `list.extend` and `append`."""
        super().extend(values)
        _tell()

    def insert(self, index: SupportsIndex, value: Any) -> None:
        """See `list.insert` and `append`."""
        super().insert(index, value)
        _tell()

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        _tell()


class Mapping(_Parts, _Hashable, MarkingDict):  # type: ignore[misc]  # nor has a dict
    """A dict of layers, variables and the like, which knows their variables; ``==`` compares identity.

    >>> len(Mapping(kernel=Variable(1.0), bias=Variable(2.0)).variables)
    2
    """

    def __setitem__(self, key: str, value: Any) -> None:
        _check_key(key)
        super().__setitem__(key, value)
        if listeners and type(value) is not NoDependency:
            notify(self, key, value)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """See `dict.setdefault` and `List.append`."""
        _check_key(key)
        value = super().setdefault(key, default)
        _tell()
        return value

    def update(self, *others: Any, **values: Any) -> None:
        """See `dict.update` and `List.append`."""
        super().update(*others, **values)
        _tell()

    def __ior__(self, other: Any) -> Self:  # type: ignore[override,misc]
        self.update(other)
        return self


class UniqueNameTracker(_Parts, Checkpointable):
    """Holds objects with state under names that it makes unique.

    >>> tracker = UniqueNameTracker()
    >>> _ = tracker.track(Variable(1.0), "x"), tracker.track(Variable(2.0), "x")
    >>> sorted(tracker.checkpoint_dependencies())
    ['x', 'x_1']
    """

    def __init__(self) -> None:
        self._objects: dict[str, Any] = {}

    def track(self, checkpointable: Any, base_name: str) -> Any:
        """Hold an object.

        Args:
            checkpointable: the object.
            base_name: its name; where it is taken, ``_1``, ``_2`` and so on is put behind it.

        Returns:
            The object.

        Raises:
            ValueError: the object has no state that could be saved.
        """
        if not is_checkpointable(checkpointable):
            raise ValueError(
                "UniqueNameTracker.track: a variable, a Checkpointable, or a list or dict of those is expected; got "
                f"{checkpointable!r} of type {type(checkpointable).__name__}."
            )
        name, number = base_name, 0
        while name in self._objects:
            number += 1
            name = f"{base_name}_{number}"
        self._objects[name] = checkpointable
        notify(self, name, checkpointable)
        return checkpointable

    def checkpoint_dependencies(self) -> dict[str, Any]:
        """The objects, by their names.

        Returns:
            Names to objects.
        """
        return dict(self._objects)

    def checkpoint_dependency(self, name: str) -> Any:
        return self._objects.get(name)


def _check_key(key: object) -> None:
    if not isinstance(key, str):
        raise TypeError(
            "Mapping: accepts only string keys, which are names in a checkpoint; got the key "
            f"{key!r} of type {type(key).__name__}."
        )


def _tell() -> None:
    if listeners:
        notify()


def _in_order(container: Any) -> list[Any]:
    """The parts of a container that are saved; of a dict in the order of the keys."""
    if isinstance(container, UniqueNameTracker):
        return list(container.checkpoint_dependencies().values())
    without = unsaved(container)
    parts = (container[key] for key in sorted(container)) if isinstance(container, dict) else container
    return [part for part in parts if id(part) not in without]


def _layers(container: Any) -> list[Any]:
    found: list[Any] = []
    for part in _in_order(container):
        if isinstance(part, (list, tuple, dict, UniqueNameTracker)):
            found += _layers(part)
        elif hasattr(part, "trainable_weights") and hasattr(part, "losses"):
            found.append(part)
    return found


def _variables(container: Any, kind: str) -> list[Variable]:
    found: list[Variable] = []
    for part in _in_order(container):
        if isinstance(part, Variable):
            found += [part] if part.trainable or kind == "variables" else []
        elif isinstance(part, _Parts):
            found += getattr(part, kind)
        elif isinstance(part, (list, tuple, dict)):
            found += _variables(part, kind)
        else:
            found += getattr(part, kind, [])
    return found
