"""Settings: how the gradients of processes become one."""

from __future__ import annotations

from typing import Any, NamedTuple

from agog_core.errors import InvalidArgumentError
from agog_distribute.processes.groups import Group

REDUCTIONS = ("mean", "sum")
COMPRESSIONS = (None, "bfloat16")


class Settings(NamedTuple):
    """What `average_gradients` is told, beside the gradients."""

    group: Group
    reduction: str = "mean"
    compression: str | None = None
    bucket_bytes: int | None = None


def check_settings(owner: str, reduction: Any, compression: Any, bucket_bytes: Any) -> None:
    """Refuse settings that there are not, in the words of their owner."""
    if reduction not in REDUCTIONS:
        raise InvalidArgumentError(f"{owner}: reduction must be 'mean' or 'sum'; got {reduction!r}.")
    if compression not in COMPRESSIONS:
        raise InvalidArgumentError(f"{owner}: compression must be None or 'bfloat16'; got {compression!r}.")
    if bucket_bytes is not None and not (type(bucket_bytes) is int and bucket_bytes > 0):
        raise InvalidArgumentError(
            f"{owner}: bucket_bytes must be a positive int, or None for 4 MB and less; got {bucket_bytes!r}."
        )
