"""Variable scopes: `get_variable`, and scopes with prefixes of names and defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from agog_core import Variable, as_dtype
from agog_core.settings import Same, Setting
from agog_core.variables.name_scope import counters, current_name_scope, name_scope
from agog_layers.naming.names import ScopeCounts, entered_scopes
from agog_layers.naming.variable_store import active_store
from agog_layers.tf_layers.variables import find_or_make, refuse_places

__all__ = [
    "AUTO_REUSE",
    "VariableScope",
    "get_local_variable",
    "get_variable",
    "get_variable_scope",
    "no_regularizer",
    "variable_op_scope",
    "variable_scope",
]


class _AutoReuse:
    def __repr__(self) -> str:
        return "AUTO_REUSE"


AUTO_REUSE = _AutoReuse()

# How often the scope of each path was entered, or made for a layer, outside of stores.
_scope_counts = ScopeCounts()
counters.append(lambda: _scope_counts.inside.clear())


class VariableScope:
    """A path of names, and defaults of `get_variable`.

    Args:
        reuse: True if only variables of a store are found, `AUTO_REUSE` where they may be, False if not.
        name: the path, without a ``/`` at the end.
        initializer: the default initializer.
        caching_device: must be None.
        partitioner: must be None.
        custom_getter: a function that makes the variables instead; see `get_variable`.
        dtype: the default dtype.
        constraint: the default constraint.
        name_scope: the path of the name scope that belongs to this one.

    Raises:
        NotImplementedError: there is a caching device or a partitioner.
    """

    def __init__(
        self,
        reuse: Any = False,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Callable[..., Any] | None = None,
        dtype: Any = "float32",
        use_resource: bool | None = None,
        constraint: Any = None,
        name_scope: str = "",
    ) -> None:
        refuse_places("variable_scope", caching_device, partitioner)
        self.reuse = reuse
        self.name = name
        self.initializer = initializer
        self.regularizer = regularizer
        self.custom_getter = custom_getter
        self.dtype = as_dtype(dtype)
        self.constraint = constraint
        self.original_name_scope = name_scope

    @property
    def path(self) -> str:
        """The prefix of its variables' names: its own name, with a ``/`` at the end."""
        return f"{self.name}/" if self.name else ""

    def reuse_variables(self) -> None:
        """Find variables of a store only, from now on."""
        self.reuse = True

    def get_variable(self, name: str, *arguments: Any, **options: Any) -> Variable:
        """See `agog_layers.get_variable`: in this scope, whatever is around it.

        Args:
            name: the name, which follows this scope's.
            *arguments: the further arguments.
            **options: the further arguments by name.

        Returns:
            The variable.
        """
        token = _current.set(self)
        try:
            return get_variable(name, *arguments, **options)
        finally:
            _current.reset(token)

    def set_custom_getter(self, custom_getter: Callable[..., Any] | None) -> None:
        """Set the default custom getter.

        Args:
            custom_getter: see `get_variable`.
        """
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        """Set the default dtype.

        Args:
            dtype: the dtype.
        """
        self.dtype = as_dtype(dtype)

    def set_regularizer(self, regularizer: Any) -> None:
        """Set the regularizer; nothing collects losses.

        Args:
            regularizer: the regularizer.
        """
        self.regularizer = regularizer

    def set_initializer(self, initializer: Any) -> None:
        """Set the default initializer.

        Args:
            initializer: the initializer.
        """
        self.initializer = initializer


# The innermost `variable_scope` of this thread or task.
_current: Setting[VariableScope | None] = Setting(
    "agog_variable_scope", None, key=lambda scope: tuple(map(Same, vars(scope).values()))
)


def get_variable_scope() -> VariableScope:
    """The innermost variable scope.

    Returns:
        The `VariableScope`.

    >>> get_variable_scope().name
    ''
    """
    return _current.get() or VariableScope()


@contextmanager
def variable_scope(
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    values: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:
    """Let the names of the variables that are made inside begin with a name, and set defaults of `get_variable`.

    Args:
        name_or_scope: the name, or a scope to enter again, whatever is around it.
        default_name: the name where ``name_or_scope`` is None; the second scope of that name gets a ``_1``, and so
            on.
        initializer: the default initializer; None for that of the scope around it.
        caching_device: must be None.
        partitioner: must be None.
        custom_getter: see `get_variable`; None for that of the scope around it.
        reuse: True if `get_variable` may only find variables again, which needs an `EagerVariableStore`.
        dtype: the default dtype; None for that of the scope around it.
        constraint: the default constraint; None for that of the scope around it.
        auxiliary_name_scope: whether a `name_scope` of the same name is entered, which names `tf.Variable` too.

    Returns:
        A context manager, which gives the `VariableScope`.

    Raises:
        ValueError: there is neither a name nor a default name.
        NotImplementedError: there is a caching device or a partitioner.

    >>> with variable_scope("encoder"):
    ...     get_variable("scale", [2]).name
    'encoder/scale:0'
    """
    if name_or_scope is None and default_name is None:
        raise ValueError("variable_scope: give name_or_scope or default_name.")
    outer = get_variable_scope()
    if isinstance(name_or_scope, VariableScope):
        defaults, path = name_or_scope, name_or_scope.name
        label = path.rpartition("/")[2]
    else:
        defaults = outer
        name = unique_path(outer.path, str(default_name)) if name_or_scope is None else name_or_scope
        label = name.removeprefix(outer.path) if name_or_scope is None else name
        path = outer.path + label if label else outer.name
    is_scope = isinstance(name_or_scope, VariableScope)
    counts = _counts().at(path)
    if name_or_scope is not None and not is_scope:
        counts.number += 1
    entered_scopes.add(path)
    # As in TensorFlow: a scope that is entered again leaves no counts behind, one by its name begins anew.
    before = counts.copy().inside if is_scope else {}
    with name_scope(label) if label and auxiliary_name_scope else name_scope(current_name_scope()) as original:
        scope = VariableScope(
            reuse or defaults.reuse,
            path,
            defaults.initializer if initializer is None else initializer,
            regularizer or defaults.regularizer,
            caching_device,
            partitioner,
            custom_getter or defaults.custom_getter,
            dtype or defaults.dtype,
            constraint=constraint or defaults.constraint,
            name_scope=defaults.original_name_scope if is_scope else original,
        )
        token = _current.set(scope)
        try:
            yield scope
        finally:
            _current.reset(token)
            if path or is_scope:
                _counts().at(path).inside = before  # asked again, as scopes inside may have put others in its place


def unique_path(path: str, base: str) -> str:
    """``path``, "" or with a ``/`` at the end, and ``base``, with a number if another scope has that name already.
    Names inside a scope are counted anew each time that a program enters it.
    """
    counts, number, name = _counts(), 0, path + base
    while counts.at(name).number:
        number += 1
        name = f"{path}{base}_{number}"
    counts.at(name).number = 1
    return name


def _counts() -> ScopeCounts:
    store = active_store()
    return _scope_counts if store is None else store.scope_counts


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Variable:
    """Make a variable; inside an `EagerVariableStore` or a template, find the one of that name.

    Outside of those every call makes a new variable, whatever its name, as nothing else would keep it alive.

    Args:
        name: the name, which follows the path of the `variable_scope`.
        shape: the shape, fully known; None if the initializer is a value.
        dtype: the dtype; None for that of the scope, or of the initial value.
        initializer: an initializer or its name, or a value; None for that of the scope, else ``"glorot_uniform"``
            for floats and ``"zeros"`` for integers and bools.
        regularizer: not used: nothing collects losses; add what it returns for the variable to the loss.
        trainable: whether tapes watch the variable without being asked.
        caching_device: must be None.
        partitioner: must be None.
        custom_getter: called as ``custom_getter(getter, name, ...)`` with the other arguments as keywords, and
            returns the variable; ``getter`` takes the same arguments. None for that of the scope.
        constraint: a function that optimizers apply to the value after each update; None for that of the scope.

    Returns:
        The variable.

    Raises:
        ValueError: the shape is missing, not fully known, or given beside a value; or the variable that is found has
            another shape or dtype.
        RuntimeError: the scope's ``reuse`` is True and there is no store.
        NotImplementedError: there is a caching device or a partitioner.

    >>> get_variable("v", initializer=[1.0, 2.0])
    <tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    refuse_places("get_variable", caching_device, partitioner)
    scope = get_variable_scope()
    if scope.reuse is True and active_store() is None:
        raise RuntimeError(
            f"get_variable: variable {scope.path + name!r} cannot be reused: variable reuse is only "
            "supported when an EagerVariableStore is active (tfe.EagerVariableStore().as_default()), or in a "
            "tfe.make_template."
        )
    getter = custom_getter or scope.custom_getter
    arguments = {
        "shape": shape,
        "dtype": dtype or (scope.dtype if shape is not None else None),
        "initializer": scope.initializer if initializer is None else initializer,
        "trainable": trainable,
        "constraint": constraint or scope.constraint,
    }
    full_name = scope.path + name
    if getter is not None:
        variable: Variable = getter(find_or_make, full_name, **arguments)
        return variable
    return find_or_make(full_name, **arguments)


def get_local_variable(name: str, shape: Any = None, *arguments: Any, **options: Any) -> Variable:
    """Make or find a variable that is not trained.

    Args:
        *arguments: the further arguments of `get_variable`.
        **options: the further arguments of `get_variable`; ``trainable`` is False.
        Other arguments: see `get_variable`.

    Returns:
        The variable.

    >>> get_local_variable("count", [], initializer="zeros").trainable
    False
    """
    return get_variable(name, shape, *arguments, **{**options, "trainable": False})


def variable_op_scope(
    values: Any, name_or_scope: str | VariableScope | None, default_name: str | None = None, **options: Any
) -> AbstractContextManager[VariableScope]:
    """`variable_scope` under its older name.

    Args:
        name_or_scope: the name, or a scope to enter again.
        default_name: the name where ``name_or_scope`` is None.
        **options: what else `variable_scope` takes.

    Returns:
        A context manager, which gives the `VariableScope`.
    """
    return variable_scope(name_or_scope, default_name, values, **options)


def no_regularizer(_: Any) -> None:
    """A regularizer that adds nothing to the loss.

    Args:
        _: a variable.

    >>> no_regularizer(1.0)
    """
