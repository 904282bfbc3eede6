"""A new op: ``from stranger_op import softcap``."""

from stranger_op.ops import softcap

__all__ = ["softcap"]
