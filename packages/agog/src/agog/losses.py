"""``tf.losses``: means of losses, with weights."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_layers.losses import *

_export(globals())

__getattr__ = _taught(__name__)
