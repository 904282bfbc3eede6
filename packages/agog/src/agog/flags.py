"""``tf.flags``: flags of the command line."""

from agog_compat.advice import taught as _taught
from agog_compat.flags import *
from agog_core.exports import export as _export

_export(globals())

__getattr__ = _taught(__name__)
