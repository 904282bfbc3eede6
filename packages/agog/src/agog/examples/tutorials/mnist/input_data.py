"""``tf.examples.tutorials.mnist.input_data``: MNIST in batches."""

from agog_compat.advice import taught as _taught
from agog_data.datasets import read_data_sets

__all__ = ["read_data_sets"]

__getattr__ = _taught(__name__)
