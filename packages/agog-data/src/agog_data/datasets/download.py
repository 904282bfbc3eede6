"""Downloads: files of databases, fetched into the user's cache and checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from agog_core import errors

if TYPE_CHECKING:
    from pathlib import Path

CHUNK = 1 << 20
_TIMEOUT_SECONDS = 30


def cache_directory(environment: Mapping[str, str], platform: str) -> Path:
    """The folder for what agog has fetched and can fetch again.

    Args:
        environment: the environment variables.
        platform: what `sys.platform` says.

    Returns:
        A path, which need not exist.
    """
    from pathlib import Path  # here, because its import takes milliseconds

    variable = "LOCALAPPDATA" if platform == "win32" else "XDG_CACHE_HOME"
    root = Path(environment.get(variable, ""))
    # A relative path is to be ignored, by the XDG base directory specification.
    return (root if root.is_absolute() else Path.home() / ".cache") / "agog"


def download(
    file: Path,
    mirrors: Sequence[str],
    difference: Callable[[Path], str | None],
    most: int,
    names: Sequence[str],
    name: str | None = None,
) -> None:
    """Fetch a file. Until it is known to be right, it has another name.

    Args:
        file: where it is put; the folder exists.
        mirrors: the URLs of folders that have it, tried in order.
        difference: says what a file has that it should not have, or None.
        most: how many bytes it has at most; what comes after that is not read.
        names: the files that the database has, for the error.
        name: its name there; None for its own.

    Raises:
        UnavailableError: no mirror could be reached.
        DataLossError: a mirror gave something else.
    """
    import http.client  # here, because its import takes longer than that of all of agog

    failures: list[str] = []
    lost = False
    for mirror in mirrors:
        url = f"{mirror.rstrip('/')}/{name or file.name}"
        part = file.with_name(f".{file.name}.{os.urandom(8).hex()}.part")
        try:
            fetch(url, part, most)
            found = difference(part)
            if found is None:
                part.replace(file)
                return
            lost = True
            failures.append(f"{url}: {found}")
        except (OSError, ValueError, http.client.HTTPException) as error:
            failures.append(f"{url}: {error}")
        finally:
            part.unlink(missing_ok=True)
    shown = "".join(f"\n  {failure}" for failure in failures)
    kind = errors.DataLossError if lost else errors.UnavailableError
    raise kind(
        f"{file}: it could not be downloaded:{shown}\n"
        f"Try again later, or put the files {', '.join(names)} into {file.parent} by hand."
    )


def checksum_difference(file: Path, checksums: Sequence[str]) -> str | None:
    """What a file has that the published one has not.

    Args:
        file: the file.
        checksums: those of its published versions, the newest first: MD5 or SHA-256, in hexadecimal.

    Returns:
        A text, or None if one of them is the file's.
    """
    if not file.exists():
        return "it does not exist"
    import hashlib

    # The connection is what keeps others from changing the file; this finds what was damaged or replaced.
    digests = {64: hashlib.sha256(), 32: hashlib.md5(usedforsecurity=False)}
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            for digest in digests.values():
                digest.update(chunk)
    found = {length: digest.hexdigest() for length, digest in digests.items()}
    if any(found[len(checksum)] == checksum for checksum in checksums):
        return None
    newest = checksums[0]
    return f"{'MD5' if len(newest) == 32 else 'SHA-256'} {newest} is expected; it is {found[len(newest)]}"


def fetch(url: str, file: Path, most: int | None = None) -> None:
    """Fetch a file that does not exist yet.

    Args:
        url: its address.
        file: where it is put.
        most: how many bytes are read at most; None for all.

    Raises:
        OSError: it cannot be reached, or ends before it is whole.
        HTTPException: what answers is no server.
    """
    import urllib.request

    with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response, file.open("xb") as stream:
        announced = response.headers.get("Content-Length")
        while chunk := response.read(CHUNK if most is None else min(most - stream.tell(), CHUNK)):
            stream.write(chunk)
        expected = None if announced is None else int(announced) if most is None else min(most, int(announced))
        if expected is not None and stream.tell() < expected:
            raise ConnectionError(f"the connection ended after {stream.tell()} of {announced} bytes")
