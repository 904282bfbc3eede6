"""``tf.keras.datasets.mnist``: handwritten digits."""

from agog_compat.advice import taught as _taught
from agog_data.datasets import load_data

__all__ = ["load_data"]

__getattr__ = _taught(__name__)
