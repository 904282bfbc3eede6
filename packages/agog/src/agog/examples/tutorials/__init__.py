"""``tf.examples.tutorials``: databases of the tutorials."""

from agog.examples.tutorials import mnist
from agog_compat.advice import taught as _taught

__all__ = ["mnist"]

__getattr__ = _taught(__name__)
