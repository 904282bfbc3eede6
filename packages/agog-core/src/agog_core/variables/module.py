"""Module: ``tf.Module``, which tracks the variables in its attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from agog_core.checkpointable import Checkpointable
from agog_core.variables.name_scope import name_scope
from agog_core.variables.variable import Variable

__all__ = ["Module"]

F = TypeVar("F", bound=Callable[..., Any])


class Module(Checkpointable):
    """Base of objects with variables: those in attributes, in lists, tuples and dicts there, and in other modules.

    Args:
        name: the module's name, an identifier; None for the class's in snake case.

    Raises:
        ValueError: the name is no identifier.

    >>> import agog_core as ag
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = ag.Variable(2.0)
    ...
    ...     def __call__(self, x):
    ...         return self.factor * x
    >>> scale = Scale()
    >>> float(scale(3.0)), len(scale.trainable_variables), scale.name
    (6.0, 1, 'scale')
    """

    def __init__(self, name: str | None = None) -> None:
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(self).__name__)
        chosen = words.lower() if name is None else name
        if not chosen.isidentifier():
            raise ValueError(f"Module: name must be an identifier of Python; got {name!r}.")
        self._name = chosen

    @property
    def name(self) -> str:
        """The module's name."""
        return vars(self).get("_name") or type(self).__name__.lower()

    @property
    def name_scope(self) -> Any:
        """A context manager: names of variables that are made inside begin with the module's name."""
        return name_scope(self.name)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, by the names of the attributes."""
        return tuple(_once(_variables(self, {id(self)})))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables to train, by the names of the attributes."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that are not to be trained, by the names of the attributes."""
        return tuple(variable for variable in self.variables if not variable.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules, layers and models inside, at any depth."""
        return tuple(_once(_modules(self, {id(self)})))

    @classmethod
    def with_name_scope(cls, method: F) -> F:
        """Let a method's variables have names that begin with the module's name.

        Args:
            method: the method, which this decorates.

        Returns:
            The method in the name scope.

        >>> class Lazy(Module):
        ...     @Module.with_name_scope
        ...     def make(self):
        ...         return Variable(1.0, name="v")
        >>> Lazy().make().name
        'lazy/v:0'
        """

        @wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped  # type: ignore[return-value]


def _parts(value: Any) -> Iterator[Any]:
    """The contents of an object's attributes by name, and of lists, tuples and dicts there."""
    inside = vars(value) if isinstance(value, Module) else value
    for part in [inside[key] for key in sorted(inside, key=str)] if isinstance(inside, dict) else inside:
        if isinstance(part, (list, tuple, dict)):
            yield from _parts(part)
        else:
            yield part


def _variables(module: Module, seen: set[int]) -> Iterator[Variable]:
    """The variables of a module and of the modules in it; a layer knows its own."""
    for part in _parts(module):
        if isinstance(part, Variable):
            yield part
        elif isinstance(part, Module):
            if id(part) not in seen:
                yield from _variables(part, seen | {id(part)})
        elif isinstance(part, Checkpointable) and isinstance(getattr(part, "trainable_variables", None), (list, tuple)):
            yield from part.variables  # type: ignore[attr-defined]


def _modules(module: Module, seen: set[int]) -> Iterator[Any]:
    for part in _parts(module):
        if isinstance(part, Module):
            if id(part) not in seen:
                yield part
                yield from _modules(part, seen | {id(part)})
        elif isinstance(part, Checkpointable) and hasattr(part, "trainable_variables"):
            yield part


def _once(values: Iterator[Any]) -> list[Any]:
    return list({id(value): value for value in values}.values())
