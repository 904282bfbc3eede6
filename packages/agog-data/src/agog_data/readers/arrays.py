"""Arrays of NumPy's files: the rows of ``.npy`` files, and of the members of ``.npz`` files, mapped into memory."""

from __future__ import annotations

import errno
import math
import os
import struct
import zipfile
from typing import IO, Any

import numpy as np

from agog_core import TensorShape, as_dtype, errors, string
from agog_data.arguments import positive
from agog_data.dataset import Dataset
from agog_data.elements import ComponentSpec, components, map_components
from agog_data.files import opened, size_of
from agog_data.npy_format import MAGIC, ZIP_ERRORS, Header, read_elements, read_header, shaped
from agog_data.sources import Source
from agog_data.stages.slicing import Slices

Array = np.ndarray[Any, Any]

_MAX_BYTES = 1 << 32
_LOCAL_HEADER = 30  # bytes of a zip file's header before a member, without the name and the extra field


class NumpyDataset(Dataset):
    """The rows of arrays in NumPy's files: their slices along the first axis.

    The files are mapped into memory and rows are copied out of them when they are asked for, so that files may be
    larger than memory. Stages that choose rows (`shuffle`, `repeat`, `take`, `batch`) work on row numbers. Nothing is
    ever unpickled. A member of an ``.npz`` file that is compressed, as by ``numpy.savez_compressed``, cannot be mapped:
    it is read into memory once, when the dataset is made.

    Args:
        paths: a path, or nested tuples and dicts of paths. An ``.npy`` file is a component; an ``.npz`` file is a dict
            with a component for each of its arrays.
        members: for one ``.npz`` file: the name of an array in it, or nested tuples and dicts of names, which give the
            elements their structure. None for a dict of all arrays.
        max_bytes: how many bytes a compressed array may have in memory; None for 2**32, four GiB.

    Raises:
        NotFoundError: there is no such file, or no such member.
        DataLossError: a file is not what its name says, or bytes of it are missing.
        ResourceExhaustedError: a compressed array is larger.
        InvalidArgumentError: an array holds Python objects or another dtype that agog has not, has no axes, or the
            arrays differ in length.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> np.savez(f"{folder}/points.npz", x=np.arange(6.0).reshape(3, 2), y=np.arange(3))
    >>> for x, y in NumpyDataset(f"{folder}/points.npz", members=("x", "y")).batch(2):
    ...     print(x.numpy().tolist(), y.numpy().tolist())
    [[0.0, 1.0], [2.0, 3.0]] [0, 1]
    [[4.0, 5.0]] [2]
    """

    def __init__(self, paths: Any, members: Any = None, *, max_bytes: int | None = None) -> None:
        most = _MAX_BYTES if max_bytes is None else positive("NumpyDataset", "max_bytes", max_bytes)
        if members is None:
            arrays = map_components(lambda path: _read_file(path, most), paths)
        elif isinstance(paths, (str, os.PathLike)):
            found = _read_npz(os.fspath(paths), components(members), most)
            arrays = map_components(lambda name: found[name], members)
        else:
            raise TypeError(f"NumpyDataset: members are those of one .npz file; got {paths!r} for its path.")
        super().__init__(Slices(MappedSource(arrays)))


class Column:
    """An array that need not be in memory, and its name for errors."""

    __slots__ = ("array", "name")

    def __init__(self, name: str, array: Array) -> None:
        self.name = name
        self.array = array


class MappedSource(Source):
    """The slices, along their first axis, of columns in the structure of an element; they need not be in memory."""

    def __init__(self, structure: Any) -> None:
        columns: list[Column] = components(structure)
        if not columns:
            raise errors.InvalidArgumentError("NumpyDataset: the structure holds no array.")
        for column in columns:
            if len(column.array) != len(columns[0].array):
                raise errors.InvalidArgumentError(
                    f"NumpyDataset: arrays of one length are expected; {columns[0].name} has shape "
                    f"{columns[0].array.shape} and {column.name} has shape {column.array.shape}."
                )
        self._columns = [column.array for column in columns]
        self._foreign = [array.dtype.kind in "SU" or not array.dtype.isnative for array in self._columns]
        super().__init__(map_components(_row_spec, structure), len(self._columns[0]))

    def row(self, number: int) -> list[Array]:
        return self._converted([column[number, ...].copy() for column in self._columns])

    def gather(self, numbers: Array) -> list[Array]:
        return self._converted([column.take(numbers, 0) for column in self._columns])

    def _converted(self, parts: list[Array]) -> list[Array]:
        if not any(self._foreign):
            return parts
        return [_host(part) if foreign else part for part, foreign in zip(parts, self._foreign, strict=True)]


def _row_spec(column: Column) -> ComponentSpec:
    dtype = string if column.array.dtype.kind in "SU" else as_dtype(column.array.dtype.newbyteorder("="))
    return ComponentSpec(dtype, TensorShape(column.array.shape[1:]))


def _host(rows: Array) -> Array:
    """Rows that are in memory as agog has them: in the machine's byte order, strings as bytes."""
    kind = rows.dtype.kind
    if kind in "SU":
        found = np.empty(rows.shape, object)
        texts = rows.reshape(-1).tolist()
        found.reshape(-1)[:] = [text.encode() for text in texts] if kind == "U" else texts
        return found
    return rows.astype(rows.dtype.newbyteorder("="))


def _read_file(path: Any, most: int) -> Any:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"NumpyDataset: paths are expected; got {path!r} of type {type(path).__name__}.")
    name = os.fspath(path)
    with opened(name) as file:
        start = file.read(len(MAGIC))
    if start[:2] == b"PK":
        return _read_npz(name, None, most)
    return Column(name, _read_npy(name))


def _read_npy(name: str) -> Array:
    with opened(name, local=True) as file:
        size = size_of(file)
        header = read_header(name, file, 0)
        return _mapped(name, file, header, size)


def _mapped(name: str, file: IO[bytes], header: Header, end: int) -> Array:
    count = math.prod(header.shape) * header.dtype.itemsize
    if count > end - header.offset:
        raise errors.DataLossError(
            f"{name}: at byte {end}: the array ends here, but elements of shape {header.shape} and dtype "
            f"{header.dtype.name} from byte {header.offset} on need {count} bytes."
        )
    if not count:  # an empty map is an error
        return shaped(name, np.empty(0, header.dtype), header)
    bytes_ = np.memmap(file, np.uint8, "r", header.offset, (count,))
    return shaped(name, np.asarray(bytes_).view(header.dtype), header)


def _read_npz(name: str, members: list[str] | None, most: int) -> dict[str, Column]:
    with opened(name, local=True) as file:
        size = size_of(file)
        try:
            with zipfile.ZipFile(file) as archive:
                infos = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
                found = {}
                for member in dict.fromkeys(infos if members is None else members):
                    if member not in infos:
                        raise errors.NotFoundError(
                            f"{name}: there is no member {member!r}; it has {', '.join(sorted(infos))}."
                        )
                    label = f"{name}[{member!r}]"
                    found[member] = Column(label, _read_member(label, file, archive, infos[member], size, most))
                return found
        except (*ZIP_ERRORS, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.EINVAL:  # EINVAL: to seek where nothing can be
                raise
            raise errors.DataLossError(f"{name}: it is no whole .npz file: {error}.") from error


def _read_member(
    label: str, file: IO[bytes], archive: zipfile.ZipFile, info: zipfile.ZipInfo, size: int, most: int
) -> Array:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise errors.DataLossError(f"{label}: it is compressed by method {info.compress_type}, which NumPy never uses.")
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:  # zipfile refuses what is encrypted
        with archive.open(info) as stream:
            header = read_header(label, stream, 0)
            return read_elements(label, stream, header, most)
    file.seek(info.header_offset)
    local = file.read(_LOCAL_HEADER)
    names, extra = struct.unpack_from("<HH", local, _LOCAL_HEADER - 4)
    begin = info.header_offset + _LOCAL_HEADER + names + extra
    file.seek(begin)
    header = read_header(label, file, begin)
    return _mapped(label, file, header, min(size, begin + info.file_size))
