"""``tf.keras.datasets.fashion_mnist``: pictures of clothes."""

from agog_data.datasets.fashion_mnist import load_data

__all__ = ["load_data"]
