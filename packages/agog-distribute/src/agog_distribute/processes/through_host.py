"""Through host: collectives of a device's arrays as copies on the host, where nothing connects the devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core.dispatch.devices.device import Device
from agog_core.plugin import Communicator


class ThroughHost:
    """Processes whose hosts are connected; each collective waits for the device.

    Args:
        hosts: the communicator of host arrays.
        device: where the arrays are.
    """

    def __init__(self, hosts: Communicator, device: Device) -> None:
        self._hosts, self._device = hosts, device
        self.rank, self.size = hosts.rank, hosts.size
        self.local_rank, self.local_size = hosts.local_rank, hosts.local_size

    def all_reduce(self, array: Any, reduction: str) -> Any:
        return self._device.from_host(self._hosts.all_reduce(self._on_host(array), reduction))

    def all_gather(self, array: Any) -> Any:
        return self._device.from_host(self._hosts.all_gather(self._on_host(array)))

    def reduce_scatter(self, array: Any, reduction: str) -> Any:
        return self._device.from_host(self._hosts.reduce_scatter(self._on_host(array), reduction))

    def broadcast(self, array: Any, root: int) -> Any:
        return self._device.from_host(self._hosts.broadcast(self._on_host(array), root))

    def all_to_all(self, array: Any) -> Any:
        return self._device.from_host(self._hosts.all_to_all(self._on_host(array)))

    def barrier(self) -> None:
        self._hosts.barrier()

    def exchange(self, message: bytes) -> list[bytes]:
        return self._hosts.exchange(message)

    def agree(self, number: int) -> bool:
        return self._hosts.agree(number)

    def split(self, ranks: Sequence[int]) -> Communicator:
        return ThroughHost(self._hosts.split(ranks), self._device)

    def abort(self, message: str) -> None:
        self._hosts.abort(message)

    def _on_host(self, array: Any) -> Any:
        return self._device.owned_on_host(array)
