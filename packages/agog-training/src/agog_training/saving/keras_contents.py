"""Keras contents: the arrays that a file of Keras holds, to look at; their values are not read."""

from __future__ import annotations

from typing import Any

from agog_checkpoint.regular_file import open_regular
from agog_core.errors import DataLossError
from agog_training.saving import keras_files


def keras_contents(path: str) -> dict[str, tuple[str, tuple[int, ...], int]]:
    """The dtype, shape and bytes of each array in a file of Keras, HDF5 or an archive, by the path inside of it.

    Raises ImportError where h5py is not installed, and DataLossError where the file is not a whole one.
    """
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f'{path!r} is a file of Keras, in HDF5, for which h5py is needed: pip install "agog-training[h5]".'
        ) from None
    found: dict[str, tuple[str, tuple[int, ...], int]] = {}

    def note(name: str, value: Any) -> None:
        if isinstance(value, h5py.Dataset):
            found[name] = str(value.dtype), tuple(value.shape or ()), int(value.nbytes)

    try:
        with open_regular(path) as stream, h5py.File(keras_files._hdf5(path, stream), "r") as file:
            file.visititems(note)
    except Exception as error:  # h5py raises errors of many kinds on damaged files
        raise DataLossError(f"{path!r} is not a whole file of Keras: {error}.") from error
    return found
