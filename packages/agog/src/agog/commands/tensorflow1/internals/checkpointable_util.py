"""Checkpointable util: private names of TensorFlow's ``python.training.checkpointable``."""

from __future__ import annotations

from inspect import isclass
from typing import Any, NoReturn

from agog_core.checkpointable import Checkpointable
from agog_core.ops.array.creation import zeros
from agog_core.tensors.convert import convert_to_tensor
from agog_core.variables.variable import Variable

__all__ = ["CheckpointableBase", "NotCheckpointable", "add_variable", "gather_initializers"]


class CheckpointableBase(Checkpointable):
    """An object with the parts of ``_track_checkpointable`` only, and no attributes.

    >>> from agog_core import Variable
    >>> holder = CheckpointableBase()
    >>> holder.v = Variable(1.0)
    >>> _ = holder._track_checkpointable(holder.v, "w")
    >>> list(holder.checkpoint_dependencies())
    ['w']
    """

    def checkpoint_dependencies(self) -> dict[str, Any]:
        return dict(vars(self).get("_tracked", {}))

    def checkpoint_dependency(self, name: str) -> Any:
        return self.checkpoint_dependencies().get(name)

    def _track_checkpointable(self, checkpointable: Any, name: str, overwrite: bool = False) -> Any:
        vars(self).setdefault("_tracked", {})[name] = checkpointable
        return checkpointable


class NotCheckpointable:
    """Marks a class whose objects cannot be saved; what saves one of them raises a NotImplementedError."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.checkpoint_dependencies = _refuse  # type: ignore[attr-defined]  # whichever base has it


def _refuse(self: Any) -> NoReturn:
    raise NotImplementedError(f"{type(self).__name__} is marked as NotCheckpointable, so its objects cannot be saved.")


def add_variable(
    checkpointable: Checkpointable, name: str, shape: Any = None, dtype: Any = "float32", initializer: Any = None
) -> Variable:
    """Make a variable that is a part of an object.

    Args:
        checkpointable: the object.
        name: the variable's name, and the part's.
        shape: the shape; None where the initializer is a value, which says it.
        dtype: the dtype.
        initializer: a value, an initializer or its class; None for zeros.

    Returns:
        The variable.

    Raises:
        ValueError: there is a part of this name, or a shape beside a value.

    >>> holder = Checkpointable()
    >>> add_variable(holder, "v", [2]).numpy().tolist(), list(holder.checkpoint_dependencies())
    ([0.0, 0.0], ['v'])
    """
    if name in checkpointable.checkpoint_dependencies():
        raise ValueError(f"add_variable: a part named {name!r} of this object was already declared.")
    if initializer is None:
        value = zeros([] if shape is None else shape, dtype)
    elif callable(initializer):
        make: Any = initializer() if isclass(initializer) else initializer
        value = make(shape, dtype=dtype)
    elif shape is not None:
        raise ValueError(f"add_variable: the value of variable {name!r} says its shape; do not specify shape={shape}.")
    else:
        value = convert_to_tensor(initializer, dtype)
    variable = Variable(value, name=name, dtype=dtype)
    checkpointable._track_checkpointable(variable, name)
    return variable


def gather_initializers(root_checkpointable: Checkpointable) -> list[Any]:
    """Nothing: variables have their values from their construction on.

    Returns:
        An empty list.
    """
    return []
