"""``tf.contrib.nn``: order statistics."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_core.ops.sorting.sorting import nth_element as nth_element

_export(globals())

__getattr__ = _taught(__name__)
