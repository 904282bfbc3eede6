"""``tf.bitwise``: the bits of integers."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_core.ops.math.bitwise import *

_export(globals())

__getattr__ = _taught(__name__)
