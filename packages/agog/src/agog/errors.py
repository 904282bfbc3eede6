"""``tf.errors``: the exceptions, by TensorFlow's status codes, and those of plugins."""

from agog_compat.advice import taught as _taught
from agog_compat.error_codes import *
from agog_core.errors import *
from agog_core.exports import export as _export

_export(globals())

__getattr__ = _taught(__name__)
