"""``tf.examples.tutorials.mnist``: handwritten digits."""

from agog.examples.tutorials.mnist import input_data
from agog_compat.advice import taught as _taught

__all__ = ["input_data"]

__getattr__ = _taught(__name__)
