"""``tf.examples.tutorials``: databases of the tutorials."""

from agog.examples.tutorials import mnist as mnist
from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export

_export(globals(), "mnist")

__getattr__ = _taught(__name__)
