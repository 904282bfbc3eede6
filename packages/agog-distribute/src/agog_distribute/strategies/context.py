"""Context: the strategy and the replica in whose part of a step a program is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core import nest
from agog_core.replicas import present_replicas
from agog_distribute.collectives.ops import all_reduce
from agog_distribute.processes.alone import Alone
from agog_distribute.processes.groups import Group
from agog_distribute.strategies.options import reduction_of
from agog_distribute.strategies.processes import Processes
from agog_distribute.strategies.strategy import Strategy

__all__ = ["ReplicaContext", "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context"]


class ReplicaContext:
    """One replica, inside of `Strategy.run`.

    Args:
        strategy: the strategy.
    """

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self.strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        """Which of them this is: the rank of the process."""
        return self.strategy._group.rank

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or mean over the replicas, with its gradient; see `Strategy.reduce`."""
        reduction, group = reduction_of(reduce_op), self.strategy._group
        return nest.map_structure(lambda leaf: all_reduce(leaf, reduction, group), value)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The replicas' tensors one behind the other; see `Strategy.gather`."""
        return self.strategy.gather(value, axis)

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Call a function of the strategy and of this replica's values, outside of the step.

        Args:
            merge_fn: the function; its first argument is the strategy.
            args: its further arguments.
            kwargs: its arguments by name.

        Returns:
            What it returns.
        """
        with self.strategy.scope():
            return merge_fn(self.strategy, *args, **(kwargs or {}))


def get_strategy() -> Strategy:
    """The strategy in whose scope the program is; outside of all one with this process alone.

    Returns:
        The strategy.

    >>> get_strategy().num_replicas_in_sync
    1
    """
    processes = present_replicas()
    found = processes.strategy if isinstance(processes, Processes) else None
    return found or Strategy(Group([0], Alone()))


def has_strategy() -> bool:
    """Whether the program is in the scope of a strategy.

    Returns:
        A bool.

    >>> has_strategy()
    False
    """
    return present_replicas() is not None


def in_cross_replica_context() -> bool:
    """Whether the program is in the scope of a strategy, and in no step.

    Returns:
        A bool.

    >>> in_cross_replica_context()
    False
    """
    processes = present_replicas()
    return processes is not None and not processes.in_step


def get_replica_context() -> ReplicaContext | None:
    """The replica whose part of a step the program is in.

    Returns:
        The replica; None in a scope outside of a step.

    >>> get_replica_context().replica_id_in_sync_group
    0
    """
    return None if in_cross_replica_context() else ReplicaContext(get_strategy())
