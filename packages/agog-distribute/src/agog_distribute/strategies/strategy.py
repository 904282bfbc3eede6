"""Strategy: TensorFlow's interface to training with several replicas; every process of the run is one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Self

import agog_core as ag
from agog_core import Tensor, nest
from agog_core.random import generator
from agog_core.replicas import present_replicas
from agog_distribute.collectives.ops import all_reduce
from agog_distribute.datasets import DistributedDataset, InputContext, shard
from agog_distribute.faults.agreement import texts_of
from agog_distribute.faults.place import line_of_program
from agog_distribute.processes.groups import Group, everybody
from agog_distribute.strategies.options import reduction_of
from agog_distribute.strategies.processes import Processes

__all__ = ["Strategy", "ValueContext"]


class ValueContext:
    """What a function may ask that gives a value for each replica.

    Args:
        replica_id_in_sync_group: which replica it is for.
        num_replicas_in_sync: how many there are.
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self.replica_id_in_sync_group, self.num_replicas_in_sync = replica_id_in_sync_group, num_replicas_in_sync


class Strategy:
    """Replicas that train one model together: the processes of a run, each of which runs the whole program.

    A value "per replica" is the value of this process. All processes call the same methods in the same order. Where
    there are several, a strategy takes over rank 0's random seed, so that all make and shuffle the same.

    Args:
        group: the processes; all, by default.

    >>> from agog_core import Variable
    >>> strategy = Strategy()
    >>> with strategy.scope():
    ...     v = Variable(1.0)
    >>> total = strategy.reduce("SUM", strategy.run(lambda: v + 1.0))  # in one process
    >>> print(total)
    tf.Tensor(2.0, shape=(), dtype=float32)
    """

    cluster_resolver = None

    def __init__(self, group: Group | None = None) -> None:
        self._group = group or everybody()
        self._of_scope = Processes(self, self._group, in_step=False)
        self._of_step = Processes(self, self._group, in_step=True)
        if self._group.size > 1:
            own = json.dumps(generator().get_state())
            first = texts_of(self._group, type(self).__name__, own, line_of_program())[0]
            generator().set_state(json.loads(first))

    @property
    def extended(self) -> Self:
        """The strategy; what TensorFlow has there is here."""
        return self

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are: the processes."""
        return self._group.size

    def scope(self) -> AbstractContextManager[Self]:
        """A ``with`` block in which the model is made: its variables begin with rank 0's values.

        Returns:
            A context manager, which gives the strategy.
        """
        return self._scope()

    @contextmanager
    def _scope(self) -> Iterator[Self]:
        with self._of_scope.enter():
            yield self

    def replica(self) -> AbstractContextManager[None]:
        """A ``with`` block in which this process computes its part of a step; see `run`.

        Returns:
            A context manager.
        """
        return nullcontext() if present_replicas() is self._of_step else self._of_step.enter()

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Call a function as one replica: ``apply_gradients`` in it takes a step by the sum of all replicas' gradients.

        It is their sum, as in TensorFlow: the loss is divided by the size of the whole batch, as
        `tf.nn.compute_average_loss` does. Random ops give other numbers in each process; initial values are the same.

        Args:
            fn: the function.
            args: its arguments.
            kwargs: its arguments by name.

        Returns:
            What the function returns in this process.
        """
        with self.replica():
            return fn(*args, **(kwargs or {}))

    experimental_run_v2 = run

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """The sum or mean over the replicas, in each process.

        Args:
            reduce_op: ``tf.distribute.ReduceOp.SUM`` or ``MEAN``, or the name.
            value: a tensor of this replica, or a structure of them.
            axis: an axis to reduce, too, in which replicas may differ; None for none.

        Returns:
            A tensor, or a structure of them.
        """
        reduction = reduction_of(reduce_op)
        return nest.map_structure(lambda leaf: self._reduced(ag.convert_to_tensor(leaf), reduction, axis), value)

    def _reduced(self, value: Tensor, reduction: str, axis: Any) -> Tensor:
        if axis is None:
            return all_reduce(value, reduction, self._group)
        total = all_reduce(ag.reduce_sum(value, axis), "sum", self._group)
        if reduction == "sum":
            return total
        count = ag.size(value) // max(1, int(ag.size(total)))
        return total / ag.cast(all_reduce(count, "sum", self._group), total.dtype)

    def gather(self, value: Any, axis: int) -> Any:
        """The replicas' tensors one behind the other along an axis, in which they may differ.

        Args:
            value: a tensor of this replica, or a structure of them.
            axis: the axis.

        Returns:
            A tensor, or a structure of them.
        """

        def gathered(leaf: Any) -> Tensor:
            tensor = ag.convert_to_tensor(leaf)
            order = [axis % len(tensor.shape), *(n for n in range(len(tensor.shape)) if n != axis % len(tensor.shape))]
            back = [order.index(n) for n in range(len(order))]
            return ag.transpose(self._of_step.gather_rows(ag.transpose(tensor, order)), back)

        return nest.map_structure(gathered, value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas in this process: one.

        Args:
            value: what `run` returned.

        Returns:
            A tuple with the value.
        """
        return (value,)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> DistributedDataset:
        """This process's rows of each batch of a dataset, whose batches have the size of all replicas together.

        Args:
            dataset: a `Dataset` of batches, the same in all processes.

        Returns:
            A dataset to iterate over, or to give to `fit`.

        Raises:
            TypeError: it is no dataset.
        """
        return DistributedDataset(shard(dataset, self._group), self._group, is_counted=True)

    def distribute_datasets_from_function(self, dataset_fn: Callable[[InputContext], Any], options: Any = None) -> Any:
        """The dataset that a function makes for this process, with batches of the size for one replica.

        The datasets may have unequally many batches: those that have no more give batches without rows, until all end.

        Args:
            dataset_fn: takes an `InputContext`, and returns a `Dataset`.

        Returns:
            A dataset to iterate over, or to give to `fit`.
        """
        size, rank = self._group.size, self._group.rank
        return DistributedDataset(dataset_fn(InputContext(size, rank, size)), self._group, is_counted=False)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(self, value_fn: Callable[[ValueContext], Any]) -> Any:
        """The value that a function gives for this replica.

        Args:
            value_fn: takes a `ValueContext`.

        Returns:
            What it returns.
        """
        return value_fn(ValueContext(self._group.rank, self._group.size))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: replica {self._group.rank} of {self._group.size}>"
