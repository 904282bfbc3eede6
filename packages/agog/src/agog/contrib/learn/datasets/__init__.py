"""``tf.contrib.learn.datasets``: databases by name, and readers of CSV files."""

from agog.contrib.learn.datasets import base as base
from agog.contrib.learn.datasets import mnist as mnist
from agog_compat.advice import face as _face
from agog_data.datasets.learn import load_boston as load_boston
from agog_data.datasets.learn import load_dataset as load_dataset
from agog_data.datasets.learn import load_iris as load_iris

_face(globals(), "base", "mnist")
