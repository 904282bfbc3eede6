"""``tf.contrib.framework``: sorting."""

from agog_compat.advice import taught as _taught
from agog_core import argsort, sort

__all__ = ["argsort", "sort"]

__getattr__ = _taught(__name__)
