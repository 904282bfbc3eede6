"""Commits: atomic replacement of files. A crash at any instant leaves the old ones or the new ones, whole."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import BinaryIO, NamedTuple

from agog_checkpoint.folder_lock import folder_lock
from agog_checkpoint.recovery import lock, remove_stale, temporary_name
from agog_checkpoint.warning import CheckpointWarning
from agog_core.errors import OpError, PermissionDeniedError, ResourceExhaustedError, UnavailableError, UnknownError
from agog_core.files import is_url, remove

Write = Callable[[BinaryIO], None]


class Elsewhere(NamedTuple):
    """Files of a commit that other processes write, under their temporary names.

    Args:
        names: of the files.
        begin: called once the commit's own temporary file is locked, so that no other program removes theirs.
        wait: called once the commit's own files are written; it returns when theirs are, or raises.
    """

    names: Sequence[str]
    begin: Callable[[], None]
    wait: Callable[[], None]


_ERRORS: dict[int | None, type[OpError]] = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), ResourceExhaustedError),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), PermissionDeniedError),
}


def new_id() -> str:
    """An id that no other commit has: sixteen hexadecimal digits."""
    return os.urandom(8).hex()


def commit(
    path: str,
    write: Write,
    first: Mapping[str, Write] | None = None,
    commit_id: str | None = None,
    placed: Callable[[str], str] = lambda name: name,
    then: Callable[[], None] | None = None,
    elsewhere: Elsewhere | None = None,
) -> None:
    """Write a file beside the old one, bring it to the disk, and only then let it take the old one's place.

    ``write`` writes the content into an empty stream. ``first`` are other files of the folder, which belong to this
    one: all of them, and those of ``elsewhere``, are written before it, and are in their places, whose names ``placed``
    gives, and on the disk before it takes its own. ``then`` runs after that. While a commit goes on, a temporary file
    has ``commit_id``, by default a new one, in its name and is locked. With ``first`` or ``then``, the folder is locked
    from the moment when everything but ``path`` is written.

    Raises ResourceExhaustedError if the disk is full, PermissionDeniedError if the folder may not be written, and
    UnknownError if the system failed in another way. In all cases the old file is as it was.
    """
    if is_url(path):
        from agog_checkpoint import remote_commit  # here, because most programs have no URLs

        remote_commit.commit(path, write, first, placed, then, elsewhere)
        return
    path = os.path.abspath(path)
    folder = os.path.dirname(path)
    others = {os.path.join(folder, name): write_other for name, write_other in (first or {}).items()}
    theirs = [os.path.join(folder, name) for name in (elsewhere.names if elsewhere is not None else ())]
    commit_id = commit_id or new_id()
    temporary = temporary_name(path, commit_id)
    made: list[str] = []  # what is removed again if this fails
    current = path
    stream: BinaryIO | None = None
    try:
        _make_folder(folder)
        remove_stale(folder)
        stream = _create(temporary)
        made.append(temporary)
        if elsewhere is not None:
            elsewhere.begin()
        for current, write_other in others.items():
            with open(temporary_name(current, commit_id), "xb") as other_stream:
                made.append(other_stream.name)
                _write(other_stream, write_other)
        current = path
        if elsewhere is not None:
            made += [temporary_name(other, commit_id) for other in theirs]
            elsewhere.wait()
        if not others:
            _write(stream, write)
        with folder_lock(folder) if others or then is not None else nullcontext():
            if others:
                _write(stream, write)
                for other in (*others, *theirs):
                    current = os.path.join(folder, placed(os.path.basename(other)))
                    os.replace(temporary_name(other, commit_id), current)
                    made.append(current)
                current = folder
                _sync_folder(folder)
            current = path
            if os.name == "nt":  # open files keep their names there
                stream.close()
            os.replace(temporary, path)
            made.clear()
            _sync_folder(folder)
            if then is not None:
                then()
    except OSError as error:
        raise translated(error, "write", current) from error
    finally:
        if stream is not None:
            with suppress(OSError):  # closing writes again what could not be written
                stream.close()
        if os.path.exists(temporary):  # where the last step has failed after it was done, nothing may go
            for name in made:
                with suppress(OSError):
                    os.unlink(name)


def write_elsewhere(temporary: str, write: Write) -> None:
    """Write a file of another process's commit under the name that it has until then, and bring it to the disk. Raises
    as `commit`; what was begun is removed then."""
    if is_url(temporary):
        from agog_checkpoint import remote_commit  # here, because most programs have no URLs

        remote_commit.upload(temporary, write)
        return
    try:
        with open(temporary, "xb") as stream:
            _write(stream, write)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise translated(error, "write", temporary) from error


def delete(path: str) -> None:
    """Delete a file and bring that to the disk; one that is not there is deleted already. Raises PermissionDeniedError
    if it may not be deleted, and UnknownError if the system failed in another way."""
    try:
        if is_url(path):
            remove(path)
            return
        os.unlink(path)
        _sync_folder(os.path.dirname(os.path.abspath(path)))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise translated(error, "write", path) from error


def delete_old(path: str) -> bool:
    """Delete a file that newer ones have replaced, and say whether it is gone; warn if that fails, since they are
    safe."""
    try:
        remove(path)
    except FileNotFoundError:
        return True
    except OSError as error:
        warn_of_old(path, error)
        return False
    return True


def warn_of_old(path: str, error: OSError) -> None:
    """Warn that an old checkpoint could not be deleted."""
    warnings.warn(
        f"Checkpoint: cannot delete the old checkpoint {path!r}: {error.strerror}. The new one is saved; the next save "
        "tries again.",
        CheckpointWarning,
        stacklevel=3,
    )


def translated(error: OSError, doing: str, path: str) -> OpError:
    """The error of agog for an error of the system while ``doing`` (``"read"`` or ``"write"``)."""
    kind = UnavailableError if isinstance(error, ConnectionError) else _ERRORS.get(error.errno, UnknownError)
    help_text = {
        ResourceExhaustedError: " Free space there, or save elsewhere.",
        PermissionDeniedError: " Change its permissions, or use another folder.",
    }.get(kind, "")
    kept = " What was saved before is as it was." if doing == "write" else ""
    return kind(f"Checkpoint: cannot {doing} the file {path!r}: {error.strerror or error}.{kept}{help_text}")


def _write(stream: BinaryIO, write: Write) -> None:
    write(stream)
    stream.flush()
    os.fsync(stream.fileno())


def _create(temporary: str) -> BinaryIO:
    """Make a temporary file, which is locked as long as its process lives and writes it."""
    while True:
        # Not by tempfile, whose files only the owner may read: the mode follows the umask.
        stream = open(temporary, "xb")  # noqa: SIM115 (the caller closes it)
        with suppress(OSError):  # not every file system has locks
            lock(stream, wait=True)
        # Between its making and its locking another process may have taken it for one that a crash left.
        if os.path.exists(temporary):
            return stream
        stream.close()


def _make_folder(folder: str) -> None:
    if not os.path.isdir(folder):
        parent = os.path.dirname(folder)
        _make_folder(parent)
        with suppress(FileExistsError):  # another process may make it at the same time
            os.mkdir(folder)
        _sync_folder(parent)


def _sync_folder(folder: str) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
