"""Fetching: files from the network, checked and kept in Keras's folder."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from agog_core import errors
from agog_core.files import copy, file_path, is_url
from agog_data.arguments import positive
from agog_data.datasets.download import fetch
from agog_data.files import PathLike

__all__ = ["get_file"]

_LEAST_UNPACKED = 1 << 30
_MOST_COMPRESSED = 100  # what texts and pictures are compressed by is less
_FORMATS = ("tar", "zip")
# The schemes of addresses that need no package.
_FETCHED = ("data", "file", "ftp", "http", "https")


def keras_folder() -> Path:
    """Where Keras keeps its files: ``$KERAS_HOME``, or ``~/.keras``."""
    return Path(os.environ.get("KERAS_HOME") or "~/.keras").expanduser()


def get_file(
    fname: PathLike | None = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: PathLike = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: str | Sequence[str] | None = "auto",
    cache_dir: PathLike | None = None,
    force_download: bool = False,
    max_bytes: int | None = None,
) -> str:
    """Fetch a file, unless it was fetched before, and unpack it on request.

    The file gets its name once it is whole and has the checksum. An archive is unpacked beside itself, as TensorFlow
    1.12 does: all of it or nothing, and no file outside of that folder. A link in it becomes a copy of the file.

    Args:
        fname: the file's name, or an absolute path; None for the last part of the address.
        origin: its address, such as ``"https://..."``, or ``"s3://..."`` with the extra ``remote``.
        untar: whether it is a ``.tar.gz`` file that holds the folder ``fname``. It is kept as ``fname.tar.gz``, and
            unpacked if that folder does not exist.
        md5_hash: the older name of ``file_hash``, for MD5.
        file_hash: the checksum, in hexadecimal; a file that has another one is fetched again. None for none.
        cache_subdir: the folder in ``cache_dir``, or an absolute path.
        hash_algorithm: ``"md5"``, ``"sha256"``, or ``"auto"`` to tell by the checksum's length.
        extract: whether it is an archive, which is unpacked.
        archive_format: ``"tar"``, also compressed by gzip, bzip2 or xz; ``"zip"``; a list of these; ``"auto"`` for
            both; or None to unpack nothing.
        cache_dir: where files are kept; None for ``$KERAS_HOME``, and for ``~/.keras`` where that is not set.
        force_download: whether it is fetched even if it is there.
        max_bytes: how many bytes an archive may hold, unpacked; None for 100 times its own size, and at least 2**30.

    Returns:
        The file's path, also that of an archive which was unpacked; with ``untar`` the path of the folder ``fname``.

    Raises:
        ValueError: there is no address, or an argument is none of those above.
        UnavailableError: it cannot be fetched.
        PermissionDeniedError: the folder cannot be written.
        DataLossError: the file has another checksum; or it is no archive, a damaged one, or one with names outside of
            the folder.
        ResourceExhaustedError: the archive holds more than ``max_bytes``.
        AlreadyExistsError: something of another kind is where a file of the archive belongs.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "words.txt").write_text("to be or not")
    >>> path = get_file("w.txt", (folder / "words.txt").as_uri(), cache_dir=folder / "cache")
    Downloading data from file:///...words.txt
    >>> pathlib.Path(path).read_text()
    'to be or not'
    """
    formats = _formats(archive_format)
    checksum, algorithm = _checksum(file_hash, md5_hash, hash_algorithm)
    most = None if max_bytes is None else positive("get_file", "max_bytes", max_bytes)
    if origin is None:
        raise ValueError(
            "get_file: origin is the address to fetch the file from; give it, such as origin='https://...'."
        )
    name = os.fspath(fname) if fname else urlsplit(origin).path.rpartition("/")[2]
    if not name:
        raise ValueError(f"get_file: {origin!r} ends with no file's name; give one, such as fname='data.zip'.")
    if cache_dir is not None and is_url(cache_dir):
        raise ValueError(f"get_file: cache_dir must be a folder of this machine; got {os.fspath(cache_dir)!r}.")
    base = keras_folder() if cache_dir is None else Path(cache_dir).expanduser()
    file = base / cache_subdir / name
    folder = file.with_name(file.name.removesuffix(".tar.gz"))
    if untar:
        file = folder.with_name(f"{folder.name}.tar.gz")
    try:
        if force_download or not file.exists() or _wrong(file, checksum, algorithm):
            file.parent.mkdir(parents=True, exist_ok=True)
            _download(origin, file, checksum, algorithm)
        if untar:
            if not folder.exists():
                _unpack(file, "tar", ["tar"], most)
            if not folder.exists():
                warnings.warn(
                    f"get_file: untar=True returns the path of {folder.name!r}, and {file} holds nothing of that name; "
                    f"what it holds is in {folder.parent}.",
                    stacklevel=2,
                )
            return str(folder)
        if extract and formats:
            _unpack(file, archive_format, formats, most)
    except PermissionError as error:
        raise errors.PermissionDeniedError(
            f"get_file: {file.parent} cannot be read or written: {error.strerror}. Give another one, as cache_dir=..."
        ) from error
    return str(file)


def _formats(archive_format: str | Sequence[str] | None) -> list[str]:
    if archive_format is None:
        return []
    if archive_format == "auto":
        return [*_FORMATS]
    formats = [archive_format] if isinstance(archive_format, str) else [*archive_format]
    if any(each not in _FORMATS for each in formats):
        raise ValueError(
            f"get_file: archive_format must be 'auto', 'tar', 'zip', a list of these two, or None; got "
            f"{archive_format!r}."
        )
    return formats


def _checksum(file_hash: str | None, md5_hash: str | None, algorithm: str) -> tuple[str | None, str]:
    if algorithm not in ("auto", "md5", "sha256"):
        raise ValueError(f"get_file: hash_algorithm must be 'auto', 'md5' or 'sha256'; got {algorithm!r}.")
    checksum = file_hash if file_hash is not None else md5_hash
    if file_hash is None and md5_hash is not None:
        algorithm = "md5"
    if algorithm == "auto":
        algorithm = "sha256" if checksum is not None and len(checksum) == 64 else "md5"
    return checksum, algorithm


def _wrong(file: Path, checksum: str | None, algorithm: str) -> str | None:
    """What another checksum the file has, or None."""
    import hashlib

    if checksum is None:
        return None
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, algorithm).hexdigest()
    return None if found == checksum.lower() else found


def _download(origin: str, file: Path, checksum: str | None, algorithm: str) -> None:
    import http.client  # here, because its import takes longer than that of all of agog

    print("Downloading data from", origin)
    part = file.with_name(f".{file.name}.{os.urandom(8).hex()}.part")
    try:
        if is_url(origin) and urlsplit(origin).scheme not in _FETCHED:
            copy(file_path("get_file", origin), str(part))
        else:
            fetch(origin, part)
        if found := _wrong(part, checksum, algorithm):
            raise errors.DataLossError(
                f"get_file: {origin} has the {algorithm} checksum {found}; {checksum} is expected."
            )
        part.replace(file)
    except PermissionError:
        raise
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise errors.UnavailableError(
            f"get_file: {origin} could not be fetched: {error}. Try again later, or put the file there by hand, as "
            f"{file}."
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _unpack(file: Path, named: str | Sequence[str] | None, formats: Sequence[str], most: int | None) -> None:
    from agog_data.datasets.archives import unpack  # here, because its import takes longer than the rest of this

    if most is None:
        most = max(_LEAST_UNPACKED, _MOST_COMPRESSED * file.stat().st_size)
    if not unpack(file, file.parent, formats, most):
        raise errors.DataLossError(f"get_file: {file} is no archive of the format {named!r}.")
