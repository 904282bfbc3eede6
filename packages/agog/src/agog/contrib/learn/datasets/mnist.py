"""``tf.contrib.learn.datasets.mnist``: MNIST in batches."""

from agog_compat.advice import face as _face
from agog_data.datasets import DataSet as DataSet
from agog_data.datasets import read_data_sets as read_data_sets
from agog_data.datasets.learn import load_mnist as load_mnist

_face(globals())
