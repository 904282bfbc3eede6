"""``tf.contrib.stateless``: random numbers that depend on nothing but a seed of two integers."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_core.ops.random.stateless import *

_export(globals())

__getattr__ = _taught(__name__)
