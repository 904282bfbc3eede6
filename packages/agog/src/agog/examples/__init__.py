"""``tf.examples``: what TensorFlow's tutorials import."""

from agog.examples import tutorials
from agog_compat.advice import taught as _taught

__all__ = ["tutorials"]

__getattr__ = _taught(__name__)
