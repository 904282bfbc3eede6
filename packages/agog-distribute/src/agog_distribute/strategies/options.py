"""Options: what TensorFlow's strategies are told of reductions and communication; only the reduction matters."""

from __future__ import annotations

from enum import Enum
from typing import Any

__all__ = [
    "CollectiveCommunication",
    "CommunicationImplementation",
    "CommunicationOptions",
    "CrossDeviceOps",
    "HierarchicalCopyAllReduce",
    "NcclAllReduce",
    "ReduceOp",
    "ReductionToOneDevice",
]


class ReduceOp(Enum):
    """How the values of replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"


def reduction_of(op: Any) -> str:
    """A reduction of the ops, for a `ReduceOp`, its name, or TensorFlow 1's ``VariableAggregation``.

    >>> reduction_of(ReduceOp.SUM), reduction_of("mean")
    ('sum', 'mean')
    """
    name = str(getattr(op, "name", op)).lower()
    if name not in ("sum", "mean"):
        raise ValueError(f"The reduction must be tf.distribute.ReduceOp.SUM or MEAN; got {op!r}.")
    return name


class CommunicationImplementation(Enum):
    """How TensorFlow's processes communicate; agog's use the collective that is installed."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


CollectiveCommunication = CommunicationImplementation


class CommunicationOptions:
    """How TensorFlow's processes communicate; it has no effect.

    Args:
        bytes_per_pack: not used.
        timeout_seconds: not used; see `set_deadline`.
        implementation: not used.
    """

    def __init__(self, bytes_per_pack: int = 0, timeout_seconds: Any = None, implementation: Any = None) -> None:
        self.bytes_per_pack, self.timeout_seconds, self.implementation = bytes_per_pack, timeout_seconds, implementation


class CrossDeviceOps:
    """How TensorFlow's devices reduce; it has no effect.

    Args:
        *args: not used.
        **kwargs: not used.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.arguments = args, kwargs


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """See `CrossDeviceOps`."""


class NcclAllReduce(CrossDeviceOps):
    """See `CrossDeviceOps`."""


class ReductionToOneDevice(CrossDeviceOps):
    """See `CrossDeviceOps`."""
