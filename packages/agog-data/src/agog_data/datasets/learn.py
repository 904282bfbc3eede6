"""Learn: the databases of ``tf.contrib.learn`` by name: Iris, Boston and MNIST."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from agog_data.datasets.boston_housing import CHECKSUM
from agog_data.datasets.csv_examples import Dataset, load_csv_with_header
from agog_data.datasets.housing import read_prices
from agog_data.datasets.keras_files import MOST_BYTES, keras_file
from agog_data.datasets.mnist_batches import Datasets, read_data_sets
from agog_data.files import PathLike

__all__ = ["load_boston", "load_dataset", "load_iris", "load_mnist"]


def load_iris(data_path: PathLike | None = None) -> Dataset:
    """Read the measures of 150 irises of three kinds.

    The database: R. A. Fisher, "The use of multiple measurements in taxonomic problems", 1936.

    Args:
        data_path: a CSV file with a header, as `load_csv_with_header` reads it; None for agog's own.

    Returns:
        A named tuple ``(data, target)``: the lengths and widths of sepals and petals in cm, float64 of shape (150, 4),
        and the kinds, int64 of shape (150,), from 0 to 2.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: the file is not what it says.

    >>> iris = load_iris()
    >>> iris.data[0].tolist(), int(iris.target[0])
    ([5.1, 3.5, 1.4, 0.2], 0)
    """
    file = Path(__file__).with_name("iris.csv") if data_path is None else data_path
    return load_csv_with_header(file, np.int64, np.float64)


def load_boston(data_path: PathLike | None = None) -> Dataset:
    """Read the prices of houses around Boston, in their own order; see `agog_data.datasets.boston_housing`.

    Args:
        data_path: a CSV file with a header, as `load_csv_with_header` reads it; None for Keras's file, which is
            downloaded if it is not there yet.

    Returns:
        A named tuple ``(data, target)``: float64 of shape (506, 13), and prices in thousands of dollars, float64 of
        shape (506,).

    Raises:
        UnavailableError: the file is missing and cannot be downloaded.
        DataLossError: the file is not what its name says, or is damaged.
    """
    if data_path is not None:
        return load_csv_with_header(data_path, np.float64, np.float64)
    file = keras_file("boston_housing.npz", "boston_housing.npz", [CHECKSUM])
    return Dataset(*read_prices("load_boston", file, MOST_BYTES))


def load_mnist(train_dir: PathLike = "MNIST-data") -> Datasets:
    """Read MNIST from a folder, as `read_data_sets` does.

    Args:
        train_dir: the folder, which the files are downloaded into if they are not there yet.

    Returns:
        A named tuple ``(train, validation, test)`` of 55000, 5000 and 10000 examples.

    Raises:
        UnavailableError: a file is missing and cannot be downloaded.
        DataLossError: a file is not what its name says, is incomplete, or does not fit the others.
    """
    return read_data_sets(train_dir)


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """Read a database by its name.

    Args:
        name: ``"iris"``, ``"boston"`` or ``"mnist"``.
        size: of ``"dbpedia"``, which agog has not.
        test_with_fake_data: the same.

    Returns:
        What `load_iris`, `load_boston` or `load_mnist` returns.

    Raises:
        ValueError: there is no such database.

    >>> load_dataset("iris").data.shape
    (150, 4)
    """
    loaders = {"iris": load_iris, "boston": load_boston, "mnist": load_mnist}
    if name not in loaders:
        raise ValueError(f"load_dataset: name must be 'iris', 'boston' or 'mnist'; got {name!r}.")
    return loaders[name]()
