"""``tf.examples``: what TensorFlow's tutorials import."""

from agog.examples import tutorials as tutorials
from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export

_export(globals(), "tutorials")

__getattr__ = _taught(__name__)
