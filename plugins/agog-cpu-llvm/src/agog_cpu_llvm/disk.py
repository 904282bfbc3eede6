"""Disk: a cache of machine code between processes, safe against shared, damaged and deleted files."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from zlib import crc32

LIMIT = 64 << 20
"""Bytes of all files together; when there are more, those that were not used for longest go."""

_KEPT = LIMIT // 2
_LOOK = 1 << 18  # bytes: one write in as many as the limit has of these looks how much there is
_HEAD = b"agog-cpu-llvm 2\n"


def folder() -> Path:
    """Where the files are: in AGOG_CACHE_DIR, or where the platform keeps what can be made again."""
    if named := os.environ.get("AGOG_CACHE_DIR"):
        return Path(named) / "llvm"
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "agog" / "llvm"


def read(key: str) -> bytes | None:
    """What is kept under a key, or None where nothing is, or where it is damaged, of another key, or another user's."""
    try:
        path = folder() / key
        with path.open("rb") as file:
            if not _is_ours(os.fstat(file.fileno())):
                return None
            content = file.read(LIMIT)
        head, digest, body = content[: len(_HEAD)], content[len(_HEAD) :][:32], content[len(_HEAD) + 32 :]
        if head != _HEAD or _digest(key, body) != digest:
            return None
        with suppress(OSError):
            os.utime(path)
        return body
    except (OSError, RuntimeError):  # there is no home
        return None


def write(key: str, body: bytes) -> None:
    """Keep something under a key; where that is not possible, it will be made again."""
    try:
        place = folder()
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_ours(place.stat()):
            return
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_HEAD + _digest(key, body) + body)
            os.replace(temporary, place / key)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        if crc32(key.encode()) % (1 + LIMIT // _LOOK) == 0:  # for many files to look takes longer than to compile
            _tidy(place)
    except (OSError, RuntimeError):
        return


def _digest(key: str, body: bytes) -> bytes:
    """What tells that a file is whole, and the one of its key."""
    return hashlib.sha256(key.encode() + b"\n" + body).digest()


def _is_ours(status: os.stat_result) -> bool:
    """Whether only this user can have written a file or folder, since what is in it will be run."""
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _tidy(place: Path) -> None:
    files = []
    for entry in os.scandir(place):
        with suppress(FileNotFoundError):  # another process tidies up too
            status = entry.stat()
            files.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    if total <= LIMIT:
        return
    for _, size, path in sorted(files):
        if total <= _KEPT:
            return
        with suppress(FileNotFoundError):
            os.unlink(path)
        total -= size
