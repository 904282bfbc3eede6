"""Archives: the files of tar and zip archives, none of which may leave the folder that they are put into."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import posixpath
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, NamedTuple

from agog_core import errors
from agog_data.datasets.size_limit import SizeLimit
from agog_data.tar_archive import TarArchive

_CHUNK = 1 << 20
_HEADER = 512  # bytes that any member counts for, so that files without content are counted too
_LONGEST_HEADER = 1 << 20  # tarfile reads a header's text at once
_LONGEST_LINK = 1 << 12
_LINK_MODE = 0o120000  # what a zip file's member has for a link, of the bits in _MODE
_MODE = 0o170000
_DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError),
    *(ValueError, OverflowError, struct.error),
)
_OF_NAMES = (None, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ)


class Member(NamedTuple):
    """A file of an archive, with its content; a link, with the file that it points to; or else a folder."""

    name: str
    stream: IO[bytes] | None = None
    link: str | None = None


def unpack(file: Path, folder: Path, formats: Sequence[str], most: int) -> bool:
    """Unpack an archive into a folder: everything, or nothing if something is wrong.

    Args:
        file: the archive, which may be a hostile one.
        folder: where its files are put; those of the same names are replaced, each at once.
        formats: ``"tar"``, also compressed by gzip, bzip2 or xz, and ``"zip"``: what it may be.
        most: how many bytes it may hold, unpacked.

    Returns:
        Whether it is an archive of these formats.

    Raises:
        DataLossError: it is damaged, or a member has a name outside the folder, links to anything but a file unpacked
            before, or is neither file nor folder.
        ResourceExhaustedError: it holds more than ``most`` bytes.
    """
    kind = next((kind for kind in formats if _IS[kind](file)), None)
    if kind is None:
        return False
    part = folder / f".{file.name}.{os.urandom(8).hex()}.part"
    part.mkdir()
    try:
        try:
            with closing(_MEMBERS[kind](file, most)) as members:
                _write(file, members, part, most)
        except (*_DAMAGE, OSError) as error:
            if isinstance(error, OSError) and error.errno not in _OF_NAMES:  # of the disk, not of a damaged file
                raise
            raise _lost(file, f"it is no whole {kind} file: {error}") from error
        _move(file, part, folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return True


def _write(file: Path, members: Iterator[Member], part: Path, most: int) -> None:
    left = most
    for member in members:
        target = part / _relative(file, member.name)
        left -= _HEADER
        source = member.stream
        try:
            if member.link is not None:
                linked = part / _relative(file, member.link)
                if not linked.is_file():
                    raise _lost(
                        file,
                        f"its member {member.name!r} is a link to {member.link!r}, and no file of that name comes "
                        "before it",
                    )
                source = linked.open("rb")
            if source is None:
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with source, target.open("wb") as copy:
                while left >= 0 and (chunk := source.read(_CHUNK)):
                    left -= len(chunk)
                    copy.write(chunk)
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            raise _lost(file, f"its member {member.name!r} is in the way of another one") from None
        if left < 0:
            raise errors.ResourceExhaustedError(
                f"{file}: it has more than {most} bytes, decompressed; max_bytes=... allows more."
            )


def _relative(file: Path, name: str) -> Path:
    """The place of a member in the folder, which it must not leave."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    strange = "\0" in name or (os.name == "nt" and any(character in name for character in "\\:"))
    if name.startswith("/") or ".." in parts or strange:
        raise _lost(file, f"it names {name!r}, which is outside of the folder that it is unpacked into")
    return Path(*parts)


def _move(file: Path, part: Path, folder: Path) -> None:
    for place, folders, files in os.walk(part):
        target = folder / Path(place).relative_to(part)
        try:
            for name in folders:
                (target / name).mkdir(exist_ok=True)
            for name in files:
                _replace(Path(place) / name, target / name)
        except (FileExistsError, IsADirectoryError) as error:
            raise errors.AlreadyExistsError(
                f"{file}: {error.filename2 or error.filename} is in the way of what it holds. Move it away, or unpack "
                "into another folder."
            ) from None


def _replace(source: Path, target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(0, "", str(target))
    shutil.move(source, target)  # at once, but for a folder that is a link to another disk


def _is_tar(file: Path) -> bool:
    try:
        with file.open("rb") as raw:
            TarArchive(SizeLimit(str(file), _decompressed(raw), _LONGEST_HEADER))
            return True
    except (*_DAMAGE, OSError, errors.ResourceExhaustedError):
        return False


def _decompressed(raw: IO[bytes]) -> IO[bytes]:
    start = raw.read(6)
    raw.seek(0)
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]  # it has what is used of it
    if start.startswith(b"BZh"):
        return bz2.BZ2File(raw)
    if start == b"\xfd7zXZ\0":
        return lzma.LZMAFile(raw)
    return raw


def _tar_members(file: Path, most: int) -> Generator[Member, None, None]:
    with file.open("rb") as raw:
        archive = TarArchive(_Headers(str(file), _decompressed(raw), most))
        while (member := archive.next()) is not None:
            if member.isdir():
                yield Member(member.name)
            elif member.islnk():
                yield Member(member.name, link=member.linkname)
            elif member.issym():
                yield Member(member.name, link=_beside(member.name, member.linkname))
            elif member.isreg():
                yield Member(member.name, archive.extractfile(member))
            else:
                raise _lost(file, f"its member {member.name!r} is no file, no folder and no link")


class _Headers(SizeLimit):
    """The bytes of a tar file, which are read in chunks; only headers that nobody writes are longer."""

    def read(self, size: int) -> bytes:
        if size > _LONGEST_HEADER:
            raise tarfile.HeaderError(f"it has a header of {size} bytes")
        return super().read(size)


def _zip_members(file: Path, most: int) -> Generator[Member, None, None]:
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            if member.is_dir():
                yield Member(member.filename)
            elif member.external_attr >> 16 & _MODE == _LINK_MODE:
                with archive.open(member) as stream:
                    target = os.fsdecode(stream.read(_LONGEST_LINK))
                yield Member(member.filename, link=_beside(member.filename, target))
            else:
                with archive.open(member) as stream:
                    yield Member(member.filename, stream)


def _beside(name: str, target: str) -> str:
    """The target of a symbolic link, from the archive's root."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


_IS = {"tar": _is_tar, "zip": zipfile.is_zipfile}
_MEMBERS = {"tar": _tar_members, "zip": _zip_members}


def _lost(file: Path, problem: str) -> errors.DataLossError:
    return errors.DataLossError(f"{file}: {problem}. Nothing of it was unpacked.")
