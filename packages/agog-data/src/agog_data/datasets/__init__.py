"""Datasets to learn from, as NumPy arrays, and the readers of their files."""

from agog_data.datasets import boston_housing, california_housing, cifar10, cifar100, fashion_mnist, idx, imdb, reuters
from agog_data.datasets.cifar10 import download_cifar10
from agog_data.datasets.fashion_mnist import download_fashion_mnist
from agog_data.datasets.mnist_batches import DataSet, Datasets, load_data, read_data_sets
from agog_data.datasets.mnist_download import download_mnist
from agog_data.datasets.mnist_files import mnist
from agog_data.datasets.sklearn_digits import digits

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
