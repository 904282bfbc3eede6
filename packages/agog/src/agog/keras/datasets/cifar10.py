"""``tf.keras.datasets.cifar10``: small pictures of things and animals."""

from agog_compat.advice import taught as _taught
from agog_data.datasets.cifar10 import load_data

__all__ = ["load_data"]

__getattr__ = _taught(__name__)
