"""Remote commits: replacement of files at URLs, where nothing is renamed.

Each other file of a commit has a name that no other commit uses. The last file, which names them, comes to its place by
one request: stores of objects show it as it was or whole. Where they have conditional requests, nobody else's request
comes between the look at what it replaces and its own.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from agog_checkpoint.commit import Elsewhere, Write, translated
from agog_checkpoint.warning import CheckpointWarning
from agog_core.files import folder_of, join, make_folders, remove
from agog_core.files.remote_files import RemoteWriter
from agog_core.files.stores import get, guarantees_of, update


def commit(
    url: str,
    write: Write,
    first: Mapping[str, Write] | None,
    placed: Callable[[str], str],
    then: Callable[[], None] | None,
    elsewhere: Elsewhere | None,
) -> None:
    """`agog_checkpoint.commit.commit` for a URL. ``write`` is called again where another program has written the file
    since; ``placed`` gives names that no other commit has."""
    _warn_of(url)
    folder = folder_of(url)
    made: list[str] = []  # what is removed again if this fails
    with _translated(folder):
        make_folders(folder)
    try:
        if elsewhere is not None:
            elsewhere.begin()
        for name, write_other in (first or {}).items():
            made.append(join(folder, placed(name)))
            upload(made[-1], write_other)
        if elsewhere is not None:
            made += [join(folder, placed(name)) for name in elsewhere.names]
            elsewhere.wait()
    except BaseException:
        _discard(made)
        raise
    if first is None:
        upload(url, write)
    else:
        try:
            replace(url, write)
        except BaseException:
            if not _names_one(url, made):  # the request may have been answered by nobody, and done
                _discard(made)
            raise
    if then is not None:
        with _translated(url):
            then()


def upload(url: str, write: Write) -> None:
    """Put a file of any size, whole or not at all. Raises OpError if the store failed."""
    with _translated(url):
        stream = RemoteWriter(url, "w")
        try:
            write(stream)
        except BaseException:
            stream.discard()
            raise
        stream.close()


def replace(url: str, write: Write) -> None:
    """Put a small file that depends on what it replaces: ``write`` is called again where that has changed since. Raises
    OpError if the store failed."""

    def make() -> bytes:
        stream = io.BytesIO()
        write(stream)
        return stream.getvalue()

    with _translated(url):
        update(url, make)


@contextmanager
def _translated(url: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise translated(error, "write", url) from error


def _names_one(url: str, shards: list[str]) -> bool:
    """Whether a file names one of these, as far as can be found out."""
    try:
        text = get(url).decode(errors="replace")
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return any(os.path.basename(shard) in text for shard in shards)


def _discard(made: list[str]) -> None:
    for url in made:
        with suppress(OSError):
            remove(url)


def _warn_of(url: str) -> None:
    if not guarantees_of(url).puts_whole:
        warnings.warn(
            f"Checkpoint: nothing is known of how the store of {url!r} replaces a file: if the program ends during a "
            "save, the file that it was writing may be cut off. Checkpoints of other names stay whole.",
            CheckpointWarning,
            stacklevel=2,
        )
