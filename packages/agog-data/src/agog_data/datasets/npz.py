"""Arrays of ``.npz`` files in memory, also of Python objects."""

from __future__ import annotations

import errno
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from agog_core import errors
from agog_data.files import opened
from agog_data.npy_format import ZIP_ERRORS, Header, read_elements, read_header

Array = np.ndarray[Any, Any]

_CHUNK = 1 << 20


def read_npz(file: Path, members: Sequence[str], most: int) -> list[Array]:
    """Read arrays of numbers or of Python objects; of these only what `agog_data.datasets.pickles` knows.

    Args:
        file: the ``.npz`` file.
        members: the names of the arrays.
        most: how many bytes each may have.

    Raises:
        DataLossError: it is no such file, lacks one of the arrays, is damaged, or has other objects.
        ResourceExhaustedError: an array has more bytes.
    """
    with opened(str(file)) as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                present = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
                if missing := [name for name in members if name not in present]:
                    raise errors.DataLossError(
                        f"{file}: it has not the arrays {', '.join(missing)}; it has {', '.join(sorted(present))}."
                    )
                return [_read(f"{file}[{name!r}]", archive, present[name], most) for name in members]
        except (*ZIP_ERRORS, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.EINVAL:  # EINVAL: to seek where nothing can be
                raise
            raise errors.DataLossError(f"{file}: it is no whole .npz file: {error}.") from error


def _read(name: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> Array:
    with archive.open(info) as stream:
        header = read_header(name, stream, 0, objects=True)
        if not header.dtype.hasobject:
            return read_elements(name, stream, header, most)
        return _objects(name, stream, header, most)


def _objects(name: str, stream: IO[bytes], header: Header, most: int) -> Array:
    from agog_data.datasets.pickles import unpickled  # here, because few files have such arrays

    data = bytearray()
    while chunk := stream.read(_CHUNK):
        data += chunk
        if len(data) > most:
            raise errors.ResourceExhaustedError(
                f"{name}: the array of objects has more than {most} bytes; max_bytes=... allows more."
            )
    found = unpickled(name, bytes(data))
    if not (isinstance(found, np.ndarray) and found.dtype.hasobject and found.shape == header.shape):
        raise errors.DataLossError(f"{name}: the pickle holds no array of objects of shape {header.shape}.")
    return found
