"""Alone: the communicator of a program that is one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core.plugin import HostCommunicator


class Alone:
    """One process: each result is a copy of what it was given."""

    rank = local_rank = 0
    size = local_size = 1

    def all_reduce(self, array: Any, reduction: str) -> Any:
        return array.copy()

    def all_gather(self, array: Any) -> Any:
        return array.copy()

    def reduce_scatter(self, array: Any, reduction: str) -> Any:
        return array.copy()

    def broadcast(self, array: Any, root: int) -> Any:
        return array.copy()

    def all_to_all(self, array: Any) -> Any:
        return array.copy()

    def barrier(self) -> None:
        return None

    def exchange(self, message: bytes) -> list[bytes]:
        return [message]

    def agree(self, number: int) -> bool:
        return True

    def split(self, ranks: Sequence[int]) -> HostCommunicator:
        return self

    def duplicate(self) -> HostCommunicator | None:
        return self

    def sum_in_place(self, array: Any) -> None:
        return None

    def abort(self, message: str) -> None:
        raise SystemExit(message)
