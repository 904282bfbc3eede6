"""``tf.contrib.learn.datasets.base``: readers of CSV files."""

from agog_compat.advice import face as _face
from agog_data.datasets import Datasets as Datasets
from agog_data.datasets.csv_examples import *
from agog_data.datasets.learn import load_boston as load_boston
from agog_data.datasets.learn import load_iris as load_iris

_face(globals())
