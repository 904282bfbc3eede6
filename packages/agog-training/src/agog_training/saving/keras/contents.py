"""Contents: the names, shapes and dtypes of the arrays in a file of Keras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_checkpoint.regular_file import open_local
from agog_core.errors import DataLossError
from agog_training.saving.keras import files as keras_files

# The most bytes of an array per byte of a file: the limit of zlib, HDF5's filter.
_DENSEST = 1032


def keras_contents(path: str) -> dict[str, tuple[str, tuple[int, ...], int]]:
    """The dtype, shape and bytes of each array in a file of Keras, HDF5 or an archive, by the path inside it.

    Raises ImportError if h5py is not installed, and DataLossError if the file is not a whole one.
    """
    found: dict[str, tuple[str, tuple[int, ...], int]] = {}

    def note(name: str, dataset: Any) -> None:
        found[name] = str(dataset.dtype), tuple(dataset.shape or ()), int(dataset.nbytes)

    _visit(path, note)
    return found


def stored_numbers(path: str) -> int:
    """How many numbers the arrays in a file of Keras have; an array counts for at most as many numbers as its stored
    bytes can hold. Errors as of `keras_contents`.
    """
    counts: list[int] = []

    def count(name: str, dataset: Any) -> None:
        counts.append(min(int(dataset.size or 0), dataset.id.get_storage_size() * _DENSEST // dataset.dtype.itemsize))

    _visit(path, count)
    return sum(counts)


def _visit(path: str, see: Callable[[str, Any], None]) -> None:
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f'{path!r} is a file of Keras, in HDF5, for which h5py is needed: pip install "agog-training[h5]".'
        ) from None
    try:
        with open_local(path) as stream, h5py.File(keras_files.hdf5_in(path, stream), "r") as file:
            file.visititems(lambda name, value: see(name, value) if isinstance(value, h5py.Dataset) else None)
    except Exception as error:  # h5py raises errors of many kinds on damaged files
        raise DataLossError(f"{path!r} is not a whole file of Keras: {error}.") from error
