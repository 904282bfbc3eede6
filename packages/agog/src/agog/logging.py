"""``tf.logging``: messages of a program."""

from agog_compat.advice import taught as _taught
from agog_compat.logging import *
from agog_core.exports import export as _export

_export(globals())

__getattr__ = _taught(__name__)
