"""``tf.contrib.framework``: sorting, and functions that exclude each other."""

from agog_compat.advice import taught as _taught
from agog_compat.critical_section import CriticalSection
from agog_core import argsort, sort

__all__ = ["CriticalSection", "argsort", "sort"]

__getattr__ = _taught(__name__)
