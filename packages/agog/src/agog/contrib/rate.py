"""``tf.contrib.rate``: how fast values change."""

from agog_compat.advice import taught as _taught
from agog_compat.rate import Rate

__all__ = ["Rate"]

__getattr__ = _taught(__name__)
