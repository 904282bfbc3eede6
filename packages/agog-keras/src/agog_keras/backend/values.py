"""Values: functions of ``tf.keras.backend`` that create, read and draw values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import agog_core as ag
from agog_core import SparseTensor, Tensor, TensorLike, Variable, as_dtype, convert_to_tensor
from agog_core.calls.docstrings import documented_like
from agog_core.ops import nn
from agog_core.variables.name_scope import counters

__all__ = [
    *("dropout", "eval", "get_uid", "is_sparse", "moving_average_update", "print_tensor"),
    *("random_binomial", "random_normal_variable", "random_uniform_variable", "relu", "reset_uids", "to_dense"),
]

# How often `get_uid` was asked for each prefix.
_uids: Counter[str] = Counter()
counters.append(_uids.clear)


def eval(x: Any) -> Any:
    """The value of a tensor or a variable.

    Args:
        x: the tensor or variable.

    Returns:
        An array.

    >>> eval(ag.ones([2])).tolist()
    [1.0, 1.0]
    """
    return to_dense(x).numpy()


def is_sparse(tensor: Any) -> bool:
    """Whether a tensor is a `tf.SparseTensor`.

    Args:
        tensor: the tensor.

    Returns:
        True or False.

    >>> is_sparse(ag.ones([2]))
    False
    """
    return isinstance(tensor, SparseTensor)


def to_dense(tensor: Any) -> Any:
    """Make a tensor of a `tf.SparseTensor`; anything else stays what it is.

    Args:
        tensor: the tensor.

    Returns:
        A tensor.

    >>> to_dense(ag.SparseTensor([[1]], [5.0], [3])).numpy().tolist()
    [0.0, 5.0, 0.0]
    """
    return ag.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else convert_to_tensor(tensor)


def relu(x: TensorLike, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Tensor:
    """Cut off what is below a threshold.

    Args:
        x: a tensor.
        alpha: the slope below the threshold.
        max_value: the largest value of the result; None for any.
        threshold: up to where the result is ``alpha * (x - threshold)``.

    Returns:
        A tensor of the same shape.

    >>> relu([-4.0, 2.0, 7.0], alpha=0.5, max_value=5.0).numpy().tolist()
    [-2.0, 2.0, 5.0]
    """
    values = convert_to_tensor(x)
    kept = nn.relu(values) if threshold == 0 else ag.where(values > threshold, values, ag.zeros_like(values))
    above: Tensor = kept if max_value is None else ag.minimum(kept, max_value)
    return above if alpha == 0 else above + ag.minimum(values - threshold, 0.0) * alpha


relu.__dict__["described_as"] = "relu"  # which it is, where it is told no more than the tensor


def dropout(x: TensorLike, level: float, noise_shape: Any = None, seed: int | None = None) -> Tensor:
    """Set elements to zero at random, and enlarge the others such that the sum stays about what it is.

    Args:
        x: a tensor of floats.
        level: the share that is dropped.
        noise_shape: the shape of the random choices, which broadcasts to that of ``x``.
        seed: the op's seed.

    Returns:
        A tensor of the same shape.

    >>> set(dropout(ag.ones([100]), 0.5).numpy().tolist()) == {0.0, 2.0}
    True
    """
    dropped: Tensor = nn.dropout(convert_to_tensor(x), rate=level, noise_shape=noise_shape, seed=seed)
    return dropped


def moving_average_update(x: Variable, value: TensorLike, momentum: float) -> Variable:
    """Move a variable towards a value.

    Args:
        x: the variable.
        value: the value.
        momentum: the share of the variable that stays.

    Returns:
        The variable.

    >>> float(moving_average_update(Variable(1.0), 3.0, 0.75))
    1.5
    """
    return x.assign_sub((x.value() - value) * (1.0 - momentum))


def print_tensor(x: TensorLike, message: str = "") -> Tensor:
    """Print a tensor.

    Args:
        x: the tensor.
        message: what is printed before it.

    Returns:
        The tensor.

    >>> _ = print_tensor([1.0, 2.0], "x = ")
    x = [1. 2.]
    """
    tensor = convert_to_tensor(x)
    print(f"{message}{tensor.numpy()}")
    return tensor


def random_uniform_variable(
    shape: Any, low: float, high: float, dtype: Any = None, name: str | None = None, seed: int | None = None
) -> Variable:
    """Make a variable of numbers that are equally likely between two limits.

    Args:
        shape: its shape.
        low: the least number.
        high: what all numbers are less than.
        dtype: its dtype; None for float32.
        name: its name.
        seed: the op's seed.

    Returns:
        The variable.

    >>> random_uniform_variable((2, 3), 0, 1).shape
    TensorShape([2, 3])
    """
    return Variable(ag.random_uniform(shape, low, high, as_dtype(dtype or "float32"), seed), name=name)


@documented_like(random_uniform_variable)
def random_normal_variable(
    shape: Any, mean: float, scale: float, dtype: Any = None, name: str | None = None, seed: int | None = None
) -> Variable:
    """Make a variable of normally distributed numbers.

    Args:
        mean: their mean.
        scale: their standard deviation.

    >>> random_normal_variable((2, 3), 0, 1).shape
    TensorShape([2, 3])
    """
    return Variable(ag.random_normal(shape, mean, scale, as_dtype(dtype or "float32"), seed), name=name)


def random_binomial(shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None) -> Tensor:
    """Make a tensor of ones and zeros.

    Args:
        shape: its shape.
        p: the probability of a one.
        dtype: its dtype; None for float32.
        seed: the op's seed.

    Returns:
        The tensor.

    >>> random_binomial([3], p=1.0).numpy().tolist()
    [1.0, 1.0, 1.0]
    """
    return ag.cast(ag.random_uniform(shape, seed=seed) < p, as_dtype(dtype or "float32"))


def get_uid(prefix: str = "") -> int:
    """How often this function was asked for a prefix, with this time.

    Args:
        prefix: the prefix.

    Returns:
        1, 2 and so on, until `reset_uids` or `clear_session` is called.

    >>> get_uid("a prefix of its own"), get_uid("a prefix of its own")
    (1, 2)
    """
    _uids[prefix] += 1
    return _uids[prefix]


def reset_uids() -> None:
    """Let `get_uid` begin anew."""
    _uids.clear()
