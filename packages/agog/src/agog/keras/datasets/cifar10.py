"""``tf.keras.datasets.cifar10``: small pictures of things and animals."""

from agog_data.datasets.cifar10 import load_data

__all__ = ["load_data"]
