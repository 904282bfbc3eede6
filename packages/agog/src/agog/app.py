"""``tf.app``: how programs start."""

from agog import flags as flags
from agog_compat.advice import taught as _taught
from agog_compat.app import run as run
from agog_core.exports import export as _export

_export(globals(), "flags")

__getattr__ = _taught(__name__)
