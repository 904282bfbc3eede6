"""Saveables: base classes of TensorFlow's savers, so that programs with subclasses can be imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["BaseSaverBuilder"]


class SaveSpec:
    """A tensor that TensorFlow's savers write under a name."""

    def __init__(self, tensor: Any, slice_spec: str, name: str, dtype: Any = None) -> None:
        self.tensor, self.slice_spec, self.name, self.dtype = tensor, slice_spec, name, dtype


class SaveableObject:
    """What TensorFlow's savers save and restore as one; agog's checkpoints take `Checkpointable` objects instead."""

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op, self.specs, self.name = op, specs, name


class BaseSaverBuilder:
    """The namespace of the two.

    >>> BaseSaverBuilder.SaveSpec(None, "", "kernel").name
    'kernel'
    """

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
