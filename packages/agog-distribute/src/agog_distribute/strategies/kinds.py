"""Kinds: the strategies by TensorFlow's names, which differ in what they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from agog_core import device as on_device
from agog_distribute.processes.alone import Alone
from agog_distribute.processes.groups import Group, everybody
from agog_distribute.strategies.cluster import check_cluster
from agog_distribute.strategies.strategy import Strategy

__all__ = ["CollectiveAllReduceStrategy", "MirroredStrategy", "MultiWorkerMirroredStrategy", "OneDeviceStrategy"]


class MirroredStrategy(Strategy):
    """Replicas that take each step together; each is a process, also those of one machine.

    Args:
        devices: None, or one device; more are more processes.
        cross_device_ops: not used.
        group: the processes; all, by default.

    Raises:
        ValueError: there are several devices.
    """

    def __init__(self, devices: Any = None, cross_device_ops: Any = None, *, group: Group | None = None) -> None:
        if devices is not None and len(devices) > 1 and not isinstance(devices, str):
            raise ValueError(
                f"MirroredStrategy: every process is one replica, on one device; got devices {list(devices)}. Leave "
                f"them out, and start as many processes: `mpiexec -n {len(devices)} python program.py`."
            )
        super().__init__(group)


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas that take each step together, on one machine or several; each is a process.

    Args:
        cluster_resolver: must be None; a launcher has told the processes who they are.
        communication_options: not used.
        communication: not used.
        group: the processes; all, by default.

    Raises:
        ValueError: the resolver, or the variable ``TF_CONFIG``, describes other processes than there are.
    """

    def __init__(
        self,
        cluster_resolver: Any = None,
        communication_options: Any = None,
        *,
        communication: Any = None,
        group: Group | None = None,
    ) -> None:
        if hasattr(cluster_resolver, "name") and hasattr(cluster_resolver, "value"):  # an older first argument
            cluster_resolver = None
        check_cluster(type(self).__name__, group or everybody(), cluster_resolver)
        super().__init__(group)


class OneDeviceStrategy(Strategy):
    """One replica, which knows of no other process.

    Args:
        device: where it computes, such as ``"/cpu:0"``.
    """

    def __init__(self, device: Any) -> None:
        self._device = device
        super().__init__(Group([everybody().rank], Alone()))

    @contextmanager
    def _scope(self) -> Iterator[Self]:
        with on_device(self._device), super()._scope():
            yield self

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """See `Strategy.run`; the function computes on the device."""
        with on_device(self._device):
            return super().run(fn, args, kwargs, options)

    experimental_run_v2 = run


class CollectiveAllReduceStrategy(Strategy):
    """TensorFlow 1's strategy of replicas that take each step together, with the method names of that time.

    Args:
        num_gpus_per_worker: at most 1: every process is one replica.
        group: the processes; all, by default.

    Raises:
        ValueError: there are several GPUs, or ``TF_CONFIG`` describes other processes than there are.
    """

    def __init__(self, num_gpus_per_worker: int = 0, *, group: Group | None = None) -> None:
        if num_gpus_per_worker > 1:
            raise ValueError(
                f"CollectiveAllReduceStrategy: every process is one replica, on one GPU; got num_gpus_per_worker="
                f"{num_gpus_per_worker}. Start {num_gpus_per_worker} processes on each machine."
            )
        check_cluster(type(self).__name__, group or everybody())
        super().__init__(group)

    @property
    def num_replicas(self) -> int:
        """See `Strategy.num_replicas_in_sync`."""
        return self.num_replicas_in_sync

    num_towers = num_replicas

    def call_for_each_replica(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """See `Strategy.run`."""
        kwargs.pop("run_concurrently", None)
        return self.run(fn, args, kwargs)

    call_for_each_tower = call_for_each_replica

    def distribute_dataset(self, dataset_fn: Callable[[], Any]) -> Any:
        """See `Strategy.experimental_distribute_dataset`.

        Args:
            dataset_fn: returns the dataset of whole batches.
        """
        return self.experimental_distribute_dataset(dataset_fn())

    def unwrap(self, value: Any) -> list[Any]:
        """See `Strategy.experimental_local_results`."""
        return [value]

    def group(self, value: Any, name: str | None = None) -> Any:
        """The value: in eager execution all updates are done.

        Args:
            value: what a function of all replicas returned.

        Returns:
            The same.
        """
        return value
