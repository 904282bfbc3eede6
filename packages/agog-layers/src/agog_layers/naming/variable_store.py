"""EagerVariableStore: variables, shared by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agog_core import Variable
from agog_core.checkpointable import notify
from agog_core.settings import Same, Setting
from agog_core.variables.name_scope import current_name_scope, name_scope
from agog_layers.naming.names import ScopeCounts, scope

__all__ = ["EagerVariableStore"]

# The store that is in force in this thread or task.
_active: Setting[EagerVariableStore | None] = Setting(
    "agog_variable_store", None, key=lambda store: (Same(store), current_name_scope(), scope.get())
)
active_store = _active.get
# What makes the weights of layers in this thread or task, as the scope around the function of a layer says.
weight_getter: Setting[Callable[..., Any] | None] = Setting("agog_weight_getter", None, key=Same)


def kept(name: str, make: Callable[[], Variable]) -> Variable:
    """The variable of a name in the active store; a function makes it if there is none, or no store."""
    store = active_store()
    if store is None:
        return make()
    if name not in store.by_name:
        store.by_name[name] = make()
        notify()
    return store.by_name[name]


class EagerVariableStore:
    """Keeps the variables of functional layers and of `get_variable`, so that a second call finds them again.

    Args:
        store: another store, whose variables this one shares; None for a new one.

    Raises:
        ValueError: ``store`` is something else.

    >>> from agog_layers.tf_layers.variable_scope import get_variable
    >>> store = EagerVariableStore()
    >>> with store.as_default():
    ...     first, second = get_variable("v", [2]), get_variable("v", [2])
    >>> first is second, [v.name for v in store.variables()]
    (True, ['v:0'])
    """

    def __init__(self, store: EagerVariableStore | None = None) -> None:
        if store is not None and not isinstance(store, EagerVariableStore):
            raise ValueError(
                f"EagerVariableStore: store must be an EagerVariableStore or None; got {store!r} of type "
                f"{type(store).__name__}."
            )
        self.by_name: dict[str, Variable] = {} if store is None else store.by_name
        self.scope_counts = ScopeCounts()

    @contextmanager
    def as_default(self) -> Iterator[EagerVariableStore]:
        """Find and keep variables here inside a ``with`` block.

        Returns:
            A context manager.
        """
        token = _active.set(self)
        self.scope_counts = ScopeCounts()
        try:
            yield self
        finally:
            _active.reset(token)

    def variables(self) -> list[Variable]:
        """All variables.

        Returns:
            A list sorted by name.
        """
        return [self.by_name[name] for name in sorted(self.by_name)]

    def trainable_variables(self) -> list[Variable]:
        """The variables to train.

        Returns:
            A list sorted by name.
        """
        return [variable for variable in self.variables() if variable.trainable]

    def non_trainable_variables(self) -> list[Variable]:
        """The variables that are not to be trained.

        Returns:
            A list sorted by name.
        """
        return [variable for variable in self.variables() if not variable.trainable]

    def copy(self) -> EagerVariableStore:
        """A store with copies of the variables.

        Returns:
            A new store, whose variables change apart from these.
        """
        copied = EagerVariableStore()
        with name_scope(""):
            for name, variable in self.by_name.items():
                copied.by_name[name] = Variable(
                    variable.read_value(), variable.trainable, name=name, constraint=variable.constraint
                )
        return copied
