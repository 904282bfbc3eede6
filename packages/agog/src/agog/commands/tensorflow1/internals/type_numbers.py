"""Type numbers: enum values of TensorFlow's messages that other packages lack."""

from __future__ import annotations

__all__ = ["DT_RESOURCE", "DT_UINT32", "DT_UINT64", "DT_VARIANT"]

DT_RESOURCE = 20
DT_VARIANT = 21
DT_UINT32 = 22
DT_UINT64 = 23
