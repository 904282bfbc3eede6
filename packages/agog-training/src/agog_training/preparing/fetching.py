"""Fetching: files from the network, which are kept and checked."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

from agog_core.errors import DataLossError

__all__ = ["get_file"]


def get_file(
    fname: str | None = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: str | os.PathLike[str] | None = None,
) -> str:
    """Fetch a file, where it was not fetched before.

    Args:
        fname: the file's name; None for the last part of the address.
        origin: its address.
        untar: the older name of ``extract``.
        md5_hash: the older name of ``file_hash``, for MD5.
        file_hash: the checksum, in hexadecimal; None for none.
        cache_subdir: the folder in ``cache_dir``.
        hash_algorithm: ``"md5"``, ``"sha256"``, or ``"auto"`` to tell by the checksum's length.
        extract: whether an archive is unpacked.
        archive_format: ``"tar"``, ``"zip"`` or ``"auto"`` to tell by the name.
        cache_dir: where files are kept; None for ``~/.keras``.

    Returns:
        The file's path; of an archive that was unpacked, the folder that it was unpacked into.

    Raises:
        ValueError: there is no address.
        DataLossError: the file has another checksum.
    """
    if origin is None:
        raise ValueError(
            "get_file: origin is the address to fetch the file from; give it, such as origin='https://...'."
        )
    folder = Path(cache_dir if cache_dir is not None else Path.home() / ".keras") / cache_subdir
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / (fname or origin.rstrip("/").rpartition("/")[2])
    checksum = file_hash or md5_hash
    algorithm = hash_algorithm
    if algorithm == "auto":
        algorithm = "sha256" if checksum and len(checksum) == 64 else "md5"
    if not file.exists() or (checksum and _digest(file, algorithm) != checksum):
        part = file.with_name(f"{file.name}.part")
        _fetch(origin, part)
        if checksum and (found := _digest(part, algorithm)) != checksum:
            part.unlink()
            raise DataLossError(f"get_file: {origin} has the {algorithm} checksum {found}; {checksum} is expected.")
        part.replace(file)
    if not (extract or untar):
        return str(file)
    target = folder / file.name.partition(".")[0]
    if not target.exists():
        _unpack(file, target, "tar" if untar else archive_format)
    return str(target)


def _fetch(origin: str, part: Path) -> None:
    import urllib.request  # here, because its import takes longer than that of all of agog

    with urllib.request.urlopen(origin, timeout=30) as response, part.open("wb") as file:
        shutil.copyfileobj(response, file)


def _digest(file: Path, algorithm: str) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


def _unpack(file: Path, target: Path, archive_format: Any) -> None:
    """Unpack an archive, none of whose files may leave the folder."""
    import tarfile
    import zipfile

    if archive_format != "zip" and tarfile.is_tarfile(file):
        with tarfile.open(file) as archive:
            archive.extractall(target, filter="data")
    elif archive_format != "tar" and zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            archive.extractall(target)
    else:
        raise DataLossError(f"get_file: {file} is no archive of the format {archive_format!r}.")
