"""``tf.examples.tutorials.mnist.input_data``: MNIST in batches."""

from agog_compat.advice import face as _face
from agog_data.datasets import read_data_sets as read_data_sets

_face(globals())
