"""Datasets to learn from, as NumPy arrays, and the readers of their files."""

from typing import TYPE_CHECKING

from agog_core.exports import Some as _Some
from agog_core.exports import later as _later
from agog_data.datasets import idx
from agog_data.datasets.mnist_batches import DataSet, Datasets, load_data, read_data_sets
from agog_data.datasets.mnist_download import download_mnist
from agog_data.datasets.mnist_files import mnist
from agog_data.datasets.sklearn_digits import digits

if TYPE_CHECKING:
    from agog_data.datasets import boston_housing, california_housing, cifar10, cifar100, fashion_mnist, imdb, reuters
    from agog_data.datasets.cifar10 import download_cifar10
    from agog_data.datasets.fashion_mnist import download_fashion_mnist

__all__ = [
    "DataSet",
    "Datasets",
    "boston_housing",
    "california_housing",
    "cifar10",
    "cifar100",
    "digits",
    "download_cifar10",
    "download_fashion_mnist",
    "download_mnist",
    "fashion_mnist",
    "idx",
    "imdb",
    "load_data",
    "mnist",
    "read_data_sets",
    "reuters",
]

# A program reads one database, so the readers of the others are not imported.
_MODULES = ("boston_housing", "california_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "reuters")
_DOWNLOADS = (
    _Some("agog_data.datasets.cifar10", "download_cifar10"),
    _Some("agog_data.datasets.fashion_mnist", "download_fashion_mnist"),
)
__getattr__, __dir__ = _later(
    __name__, modules={name: f"agog_data.datasets.{name}" for name in _MODULES}, rooms=_DOWNLOADS
)
