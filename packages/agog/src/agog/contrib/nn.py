"""``tf.contrib.nn``: order statistics."""

from agog_compat.advice import taught as _taught
from agog_core.ops.sorting.sorting import nth_element

__all__ = ["nth_element"]

__getattr__ = _taught(__name__)
