"""Replication: how TensorFlow 1 is told to keep copies of a variable; there is one of each here."""

from __future__ import annotations

from enum import Enum

__all__ = ["VariableAggregation", "VariableSynchronization"]


class VariableSynchronization(Enum):
    """When copies of a variable become equal in TensorFlow.

    >>> VariableSynchronization.AUTO.name
    'AUTO'
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(Enum):
    """What becomes of the values that are assigned to copies of a variable in TensorFlow.

    >>> VariableAggregation.SUM.name
    'SUM'
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_TOWER = 3
