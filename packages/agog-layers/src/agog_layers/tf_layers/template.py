"""Templates: functions that share the variables of their first call."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from agog_core import Checkpointable, Variable
from agog_core.checkpointable import notify
from agog_layers.naming.variable_store import EagerVariableStore, active_store
from agog_layers.tf_layers.variable_scope import VariableScope, get_variable_scope, unique_path, variable_scope

__all__ = ["make_template"]

# The templates whose functions this thread or task is in, the innermost last.
_calls: ContextVar[tuple[Template, ...]] = ContextVar("agog_template_calls", default=())


class Template(Checkpointable):
    """A function with variables of its own; `make_template` makes it."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        scope: VariableScope | None,
        custom_getter: Callable[..., Any] | None,
        arguments: dict[str, Any],
    ) -> None:
        self.name = name
        self._function = function
        self._scope = scope
        self._custom_getter = custom_getter
        self._arguments = arguments
        # A template made in another one's call shares its variables, so that the next call finds them.
        self._store = EagerVariableStore(active_store() if _calls.get() else None)
        self._templates: dict[str, Template] = {}
        self._variables_created = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with the template's variables; only the first call may make some to train."""
        scope = self._scope = self._scope or _new_scope(self.name)
        before = self.trainable_variables
        token = _calls.set((*_calls.get(), self))
        try:
            with self._store.as_default(), variable_scope(scope, custom_getter=self._custom_getter):
                result = self._function(*args, **{**self._arguments, **kwargs})
        finally:
            _calls.reset(token)
        if self._variables_created and len(self.trainable_variables) > len(before):
            names = [variable.name for variable in self.trainable_variables if variable not in before]
            raise ValueError(
                f"Template {scope.name!r}: only the first call may make variables to train; this one made "
                f"{', '.join(names)}. Give get_variable the names of the first call."
            )
        self._variables_created = True
        self._join(scope)
        return result

    def _join(self, scope: VariableScope) -> None:
        """Become a part of the calling template, so that it is saved with it."""
        outer = _calls.get()[-1:]
        if outer and outer[0].variable_scope is not None and self._store.by_name is outer[0]._store.by_name:
            name = scope.name.removeprefix(outer[0].variable_scope.path)
            if name not in outer[0]._templates:
                outer[0]._templates[name] = self
                notify()

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of the variables; None before the first call, where that decides it."""
        return self._scope

    @property
    def variables(self) -> list[Variable]:
        """All variables, sorted by name."""
        path = None if self._scope is None else self._scope.path
        return [self._store.by_name[name] for name in sorted(self._store.by_name) if path and name.startswith(path)]

    weights = global_variables = variables

    @property
    def trainable_variables(self) -> list[Variable]:
        """The variables to train, sorted by name."""
        return [variable for variable in self.variables if variable.trainable]

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """The variables that are not to be trained, sorted by name."""
        return [variable for variable in self.variables if not variable.trainable]

    non_trainable_weights = non_trainable_variables

    def checkpoint_dependencies(self) -> dict[str, Any]:
        """The variables, by name without the template's prefix, and the templates called by its function."""
        start = 0 if self._scope is None else len(self._scope.path)
        inside = tuple(f"{name}/" for name in self._templates)
        own = {variable.name[start:].removesuffix(":0"): variable for variable in self.variables}
        return {**{name: v for name, v in own.items() if not name.startswith(inside)}, **self._templates}


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable[..., Any] | None = None,
    create_graph_function_: bool = False,
    **kwargs: Any,
) -> Template:
    """Let a function share its variables between calls.

    Args:
        name_: what the names of the variables begin with, in the scope of the first call; the second template of a
            name gets a ``_1``, and so on.
        func_: the function; it gets its variables by `get_variable`.
        create_scope_now_: whether the scope is that around this call instead.
        unique_name_: the whole name instead of ``name_``; its scope is made now.
        create_graph_function_: accepted; see `tf.function`.
        **kwargs: keyword arguments of all calls.
        Other arguments: see `variable_scope`.

    Returns:
        A function of the same arguments, with ``variables``.

    Raises:
        ValueError: ``name_`` is None.

    >>> from agog_layers.tf_layers.variable_scope import get_variable
    >>> scale = make_template("scale", lambda x: x * get_variable("factor", initializer=2.0))
    >>> float(scale(3.0)), float(scale(4.0)), [v.name for v in scale.variables]
    (6.0, 8.0, ['scale/factor:0'])
    """
    if name_ is None:
        raise ValueError("make_template: name cannot be None.")
    if unique_name_:
        scope: VariableScope | None = VariableScope(name=get_variable_scope().path + unique_name_)
    else:
        scope = _new_scope(name_) if create_scope_now_ else None
    return Template(name_, func_, scope, custom_getter_, kwargs)


def _new_scope(name: str) -> VariableScope:
    return VariableScope(name=unique_path(get_variable_scope().path, name))
