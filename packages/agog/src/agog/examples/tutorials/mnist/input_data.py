"""``tf.examples.tutorials.mnist.input_data``: MNIST in batches."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_data.datasets import read_data_sets as read_data_sets

_export(globals())

__getattr__ = _taught(__name__)
