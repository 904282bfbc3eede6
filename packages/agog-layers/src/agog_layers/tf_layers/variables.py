"""Variables: looked up by full name, or made."""

from __future__ import annotations

from typing import Any

from agog_core import TensorShape, Variable, as_dtype, convert_to_tensor, name_scope
from agog_core.random import initializing
from agog_core.tensors.convert import is_tensor
from agog_layers.naming.variable_store import kept
from agog_layers.weights import initializers


def find_or_make(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    trainable: bool = True,
    constraint: Any = None,
    **others: Any,
) -> Variable:
    """The variable of a full name in the active store; a new one if there is none, or no store."""

    def make() -> Variable:
        with initializing():
            value = _initial_value(name, shape, dtype, initializer)
        with name_scope(""):
            return Variable(value, trainable, name=name, dtype=dtype, constraint=constraint)

    variable = kept(name, make)
    _check(variable, shape, dtype)
    return variable


def _initial_value(name: str, shape: Any, dtype: Any, initializer: Any) -> Any:
    is_value = initializer is not None and not callable(initializer) and not isinstance(initializer, str)
    if is_value:
        if shape is not None:
            raise ValueError(
                f"get_variable: variable {name!r} has an initial value, whose shape is the variable's; leave shape out."
            )
        tensor = convert_to_tensor(initializer) if is_tensor(initializer) else convert_to_tensor(initializer, dtype)
        if dtype is not None and tensor.dtype != dtype:
            raise ValueError(
                f"get_variable: the dtypes of variable {name!r} and its initial value don't match: "
                f"{as_dtype(dtype).name} and {tensor.dtype.name}; cast the value."
            )
        return tensor
    if shape is None and callable(initializer) and not isinstance(initializer, initializers.Initializer):
        return initializer()
    sizes = TensorShape(shape)
    if not sizes.is_fully_defined():
        raise ValueError(f"get_variable: the shape of variable {name!r} must be fully known; got {sizes}.")
    kind = as_dtype(dtype or "float32")
    if initializer is None and not (kind.is_floating or kind.is_integer or kind.is_bool):
        raise ValueError(f"get_variable: variable {name!r} of dtype {kind.name} needs an initializer.")
    return initializers.get(initializer or ("glorot_uniform" if kind.is_floating else "zeros"))(sizes, dtype=kind)


def _check(found: Variable, shape: Any, dtype: Any) -> None:
    if shape is not None and not TensorShape(shape).is_compatible_with(found.shape):
        raise ValueError(
            f"get_variable: variable {found.name!r} exists with shape {found.shape}; got shape {TensorShape(shape)}."
        )
    if dtype is not None and found.dtype != as_dtype(dtype):
        raise ValueError(
            f"get_variable: variable {found.name!r} exists with dtype {found.dtype.name}; got dtype "
            f"{as_dtype(dtype).name}."
        )


def refuse_places(function: str, caching_device: Any, partitioner: Any) -> None:
    """Raise where a variable is to have its value, or its parts, in several places."""
    if caching_device is not None:
        raise NotImplementedError(
            f"{function}: caching devices are not supported when eager execution is enabled; leave caching_device out."
        )
    if partitioner is not None:
        raise NotImplementedError(
            f"{function}: partitioned variables are not supported when eager execution is enabled; leave partitioner "
            "out."
        )
