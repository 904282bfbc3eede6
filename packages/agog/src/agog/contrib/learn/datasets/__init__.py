"""``tf.contrib.learn.datasets``: databases by name, and readers of CSV files."""

from agog.contrib.learn.datasets import base as base
from agog.contrib.learn.datasets import mnist as mnist
from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_data.datasets.learn import load_boston as load_boston
from agog_data.datasets.learn import load_dataset as load_dataset
from agog_data.datasets.learn import load_iris as load_iris

_export(globals(), "base", "mnist")

__getattr__ = _taught(__name__)
