"""Graph scopes: scopes of graphs, sessions and seeds, with little effect in eager execution."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agog_core import Tensor, TensorLike, identity, name_scope
from agog_core.random import DEFAULT_GRAPH_SEED, generator

__all__ = [
    "container",
    "disable_resource_variables",
    "enable_resource_variables",
    "get_seed",
    "guarantee_const",
    "op_scope",
]

_MOST = 2**31 - 1


@contextmanager
def container(container_name: str | None) -> Iterator[str | None]:
    """Do nothing: two variables are never one because they have one name.

    Args:
        container_name: the name of a container.

    Returns:
        A context manager, which gives the name.

    >>> with container("mine") as name:
    ...     name
    'mine'
    """
    yield container_name


@contextmanager
def op_scope(values: Any, name: str | None, default_name: str | None = None) -> Iterator[str]:
    """See `name_scope`; the values come first.

    Args:
        values: accepted.
        name: the name.
        default_name: the name where ``name`` is None.

    Returns:
        A context manager, which gives the path of the scope.

    >>> with op_scope([1.0], None, "layer") as path:
    ...     path
    'layer/'
    """
    with name_scope(name, default_name, values) as path:
        yield path


def enable_resource_variables() -> None:
    """Do nothing: all variables are of the kind that TensorFlow calls resource variables."""


def disable_resource_variables() -> None:
    """Do nothing: there is no other kind of variable."""


def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """The same value: no tensor ever changes.

    Args:
        input: a tensor.

    Returns:
        A tensor of the value.

    >>> print(guarantee_const(1.0))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    return identity(input)


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """The second value: the first ones are done already.

    Args:
        dependencies: accepted.
        output_tensor: the value.

    Returns:
        The value.
    """
    return output_tensor


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """TensorFlow's two seeds from those of `set_random_seed` and of an op.

    Args:
        op_seed: the op's seed, or None.

    Returns:
        The graph's seed and the op's; both are None where neither was set.

    >>> from agog_core import set_random_seed
    >>> set_random_seed(7)
    >>> get_seed(3)
    (7, 3)
    """
    graph_seed = generator().seed
    if op_seed is None and graph_seed is None:
        return None, None
    if op_seed is None:
        op_seed = generator().reserve(None, 1)[2]
    seeds = (DEFAULT_GRAPH_SEED if graph_seed is None else graph_seed) % _MOST, op_seed % _MOST
    return (0, _MOST) if seeds == (0, 0) else seeds
