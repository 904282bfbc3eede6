"""Databases to learn from, as NumPy arrays, and the readers of their files."""

from agog_data.datasets import idx
from agog_data.datasets.mnist_download import download_mnist
from agog_data.datasets.mnist_files import mnist
from agog_data.datasets.sklearn_digits import digits

__all__ = ["digits", "download_mnist", "idx", "mnist"]
