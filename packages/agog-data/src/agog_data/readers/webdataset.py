"""WebDataset: samples in tar files, each a few files with one key.

The format: A. Aizman, G. Maltby, T. Breuel, "High performance I/O for large scale deep learning", 2019: the files of a
sample follow each other, and the key is the file's name up to the first dot after the last slash.
"""

from __future__ import annotations

import errno
import tarfile
from collections.abc import Iterator, Sequence
from typing import Any

from agog_core import TensorShape, dtypes, errors
from agog_core.files import file_path, status
from agog_data.dataset import Dataset
from agog_data.elements import ComponentSpec
from agog_data.files import opened, path_names, size_of
from agog_data.readers.element_stream import Array, ElementStream, Parts, text
from agog_data.tar_archive import TarArchive

KEY = "__key__"


class WebDataset(Dataset):
    """The samples of tar files, in order.

    An element is a dict of strings: ``"__key__"``, and the bytes of each file under its extension, such as ``"jpg"``
    and ``"cls"``; a `map` decodes them. The files are read as they are needed and nothing is unpacked to disk; links,
    devices and folders are left out. The tar files must not be compressed: what is in them usually is.

    Args:
        paths: a path, or a list or tensor of paths.
        extensions: the extensions that elements have, in their order; other files are left out. None for those of the
            first sample.

    Raises:
        InvalidArgumentError: there is no path, or no extension.

    While iterating:

    * NotFoundError: a tar file does not exist.
    * DataLossError: a tar file is broken or ends too early.
    * InvalidArgumentError: a sample lacks a file, or has one twice.

    >>> import io, tempfile
    >>> path = f"{tempfile.mkdtemp()}/numbers.tar"
    >>> with tarfile.open(path, "w") as archive:
    ...     for name, data in (("0.cls", b"3"), ("0.txt", b"three"), ("1.cls", b"4"), ("1.txt", b"four")):
    ...         member = tarfile.TarInfo(name)
    ...         member.size = len(data)
    ...         archive.addfile(member, io.BytesIO(data))
    >>> for sample in WebDataset(path).map(lambda sample: (sample["txt"], int(sample["cls"].numpy()))):
    ...     print(sample[0].numpy(), int(sample[1]))
    b'three' 3
    b'four' 4
    """

    def __init__(self, paths: Any, extensions: Sequence[str] | None = None) -> None:
        names = path_names("WebDataset", paths)
        if extensions is not None and (isinstance(extensions, str) or not extensions):
            raise errors.InvalidArgumentError(
                f"WebDataset: extensions must be a list such as ['jpg', 'cls']; got {extensions!r}."
            )
        super().__init__(Samples(names, None if extensions is None else list(extensions)))


class Samples(ElementStream):
    """The samples of tar files; ``extensions`` is None for those of the first sample."""

    def __init__(self, files: list[str], extensions: list[str] | None) -> None:
        super().__init__("webdataset", files)
        self._given = extensions is not None
        self._extensions = extensions

    def spec(self) -> Any:
        scalar = ComponentSpec(dtypes.string, TensorShape([]))
        return dict.fromkeys([KEY, *self._names()], scalar)

    def _names(self) -> list[str]:
        if self._extensions is None:
            for name in self.files:
                for _, parts, _ in _samples(name, 0):
                    self._extensions = list(parts)
                    return self._extensions
            raise errors.InvalidArgumentError(
                f"WebDataset: {', '.join(self.files)}: there is no sample that says what the extensions are; give them."
            )
        return self._extensions

    def read(self, file: int, position: int) -> Parts:
        name, wanted = self.files[file], self._names()
        order = sorted([KEY, *wanted])
        for key, parts, end in _samples(name, position):
            missing = [extension for extension in wanted if extension not in parts]
            more = [] if self._given else [extension for extension in parts if extension not in wanted]
            if missing or more:
                raise errors.InvalidArgumentError(
                    f"{name}: the sample {key!r} has the extensions {', '.join(sorted(parts))}, but "
                    f"{', '.join(sorted(wanted))} are expected. The extensions that all samples have can be given to "
                    "WebDataset."
                )
            parts[KEY] = key.encode("utf-8", "surrogateescape")
            found: list[Array] = [text(parts[extension]) for extension in order]
            yield found, end


Sample = tuple[str, dict[str, bytes], int]


def _samples(name: str, position: int) -> Iterator[Sample]:
    """The key, the files and the end of each sample from a position on."""
    key: str | None = None
    parts: dict[str, bytes] = {}
    begin = position
    for member, offset, data in _members(name, position):
        folder, _, base = member.rpartition("/")
        stem, _, extension = base.partition(".")
        if not stem or not extension:
            continue
        this = f"{folder}/{stem}" if folder else stem
        if this != key:
            if key is not None:
                yield key, parts, offset
            key, parts, begin = this, {}, offset
        if extension in parts:
            raise errors.InvalidArgumentError(
                f"{name}: at byte {offset}: the sample {key!r}, which begins at byte {begin}, has the extension "
                f"{extension!r} twice."
            )
        parts[extension] = data
    if key is not None:
        yield key, parts, status(file_path(name, name)).size


def _members(name: str, position: int) -> Iterator[tuple[str, int, bytes]]:
    """The name, the header's position and the bytes of each file from a position on."""
    with opened(name) as file:
        size = size_of(file)
        if position == size and size:  # after the last sample
            return
        if file.read(2) == b"\x1f\x8b":
            raise errors.InvalidArgumentError(
                f"{name}: it is compressed by gzip; WebDataset reads tar files that are not compressed."
            )
        file.seek(position)
        begin = position
        try:
            archive = TarArchive(file)
            while (member := archive.next()) is not None:
                end = archive.offset
                if member.size < 0 or end <= begin:
                    raise tarfile.HeaderError(f"the member {member.name!r} has {member.size} bytes")
                if member.isreg() and not member.issparse():
                    if member.offset_data + member.size > size:
                        raise tarfile.HeaderError(
                            f"the file of {size} bytes ends before its member {member.name!r} of {member.size} does"
                        )
                    file.seek(member.offset_data)
                    yield member.name, begin, file.read(member.size)
                begin = end
        except Exception as error:  # whatever tarfile raises for bytes that it does not understand
            if isinstance(error, OSError) and error.errno != errno.EINVAL:  # EINVAL: to seek where nothing can be
                raise
            raise errors.DataLossError(f"{name}: at byte {begin}: it is no whole tar file: {error}.") from error
