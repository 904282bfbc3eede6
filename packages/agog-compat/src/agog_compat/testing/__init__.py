"""Testing: ``tf.test``."""

from agog_compat.testing.decorators import *
from agog_core.exports import export as _export

_export(globals())
