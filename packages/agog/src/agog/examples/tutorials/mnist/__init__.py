"""``tf.examples.tutorials.mnist``: handwritten digits."""

from agog.examples.tutorials.mnist import input_data as input_data
from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export

_export(globals(), "input_data")

__getattr__ = _taught(__name__)
