"""``tf.contrib.memory_stats``: the memory of the current device."""

from agog_compat.advice import taught as _taught
from agog_compat.memory_stats import *
from agog_core.exports import export as _export

_export(globals())

__getattr__ = _taught(__name__)
