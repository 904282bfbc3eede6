"""``tf.keras.datasets.fashion_mnist``: pictures of clothes."""

from agog_compat.advice import taught as _taught
from agog_data.datasets.fashion_mnist import load_data

__all__ = ["load_data"]

__getattr__ = _taught(__name__)
