"""Stores: file systems at URLs, by the package fsspec. Each operation is retried; see `agog_core.files.retries`."""

from __future__ import annotations

import errno
import posixpath
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from agog_core.errors import UnimplementedError
from agog_core.files import file_system
from agog_core.files.guarantees import Guarantees, guarantees
from agog_core.files.paths import folder_of, is_url, join
from agog_core.files.retries import retried, status_of

_MAGIC = "*?["
_BLOCK = 1 << 22
_MOST_CONFLICTS = 100
_CONFLICTS = {404, 409, 412}  # gone, written at the same time, changed


def check_url(function: str, url: str) -> None:
    """Raise UnimplementedError if there is nothing here that opens a URL."""
    try:
        import fsspec
    except ImportError as error:
        raise UnimplementedError(
            f'{function}: {url!r} is a URL, which the package fsspec opens; install it by pip install "agog[remote]".'
        ) from error
    schemes = [each.partition("://")[0] for each in url.split("::")]
    for scheme in schemes:
        try:
            fsspec.get_filesystem_class(scheme.lower())
        except ValueError as error:
            raise UnimplementedError(
                f"{function}: of {url!r} fsspec does not know the scheme {scheme!r}; correct the URL, or teach fsspec "
                "the scheme by fsspec.register_implementation."
            ) from error
        except ImportError as error:
            raise UnimplementedError(f"{function}: {url!r} needs another package: {error}.") from error


def guarantees_of(url: str) -> Guarantees:
    """What the store of a URL promises."""
    return guarantees(protocols(opened(url)[0]))


def opened(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    from fsspec.core import url_to_fs

    system, path = retried(url, lambda: url_to_fs(url))
    return system, str(path)


def act(url: str, method: str, *arguments: Any, **options: Any) -> Any:
    """Call a method of a URL's file system for its path."""
    system, path = opened(url)
    return retried(url, lambda: getattr(system, method)(path, *arguments, **options))


def fresh(url: str, method: str, *arguments: Any, **options: Any) -> Any:
    """Ask a method of a URL's file system of its path, whatever it has kept of earlier answers."""
    system, path = opened(url)

    def ask() -> Any:
        system.invalidate_cache()
        return getattr(system, method)(path, *arguments, **options)

    return retried(url, ask)


def exists(url: str) -> bool:
    """See `file_system.exists`."""
    return _kind(url) is not None


def is_file(url: str) -> bool:
    """See `file_system.is_file`."""
    return _kind(url) == "file"


def is_folder(url: str) -> bool:
    """See `file_system.is_folder`."""
    return _kind(url) == "directory"


def _kind(url: str) -> str | None:
    # Not by `exists`, which takes any error for an answer.
    try:
        return str(fresh(url, "info")["type"])
    except (FileNotFoundError, NotADirectoryError):
        return None


def status(url: str) -> tuple[int, int, bool]:
    """See `file_system.status`."""
    found = fresh(url, "info")
    if found["type"] == "directory":
        return 0, 0, True
    return int(found["size"] or 0), _nanoseconds(url, found), False


def _nanoseconds(url: str, found: dict[str, Any]) -> int:
    time = found.get("LastModified") or found.get("mtime")
    if time is None:
        try:
            time = act(url, "modified")
        except NotImplementedError:  # not every store knows
            return 0
    return int((time.timestamp() if hasattr(time, "timestamp") else float(time)) * 1e9)


def names_in(url: str) -> list[str]:
    """See `file_system.names_in`."""
    return [name for name, _ in _entries(url)]


def _entries(url: str) -> list[tuple[str, bool]]:
    """The names in a folder, and whether they are those of folders."""
    _, path = opened(url)
    here = path.strip("/")
    found = fresh(url, "ls", detail=True)
    if any(each["type"] == "file" and each["name"].strip("/") == here and each.get("size") for each in found):
        raise NotADirectoryError(errno.ENOTDIR, "Not a directory", url)
    return [
        (posixpath.basename(each["name"].rstrip("/")), each["type"] == "directory")
        for each in found
        if each["name"].strip("/") != here  # an object that stands for the folder itself
    ]


def walk(url: str, top_down: bool) -> Iterator[tuple[str, list[str], list[str]]]:
    """See `file_system.walk`."""
    try:
        entries = _entries(url)
    except (FileNotFoundError, NotADirectoryError):
        return
    folders = sorted(name for name, is_folder in entries if is_folder)
    files = sorted(name for name, is_folder in entries if not is_folder)
    if top_down:
        yield url, folders, files
    for name in folders:
        yield from walk(join(url, name), top_down)
    if not top_down:
        yield url, folders, files


def matching(pattern: str) -> list[str]:
    """The URLs of files that match a pattern."""
    if not any(each in pattern for each in _MAGIC):
        return [pattern] if exists(pattern) else []
    fixed = pattern
    while any(each in fixed for each in _MAGIC):
        fixed = folder_of(fixed)
    _, base = opened(fixed)
    system, path = opened(pattern)

    def ask() -> Any:
        system.invalidate_cache()
        return system.glob(path)

    return [join(fixed, str(each)[len(base) :].strip("/")) for each in retried(pattern, ask)]


def make_folder(url: str) -> None:
    """See `file_system.make_folder`."""
    if not _is_flat(url):
        act(url, "mkdir", create_parents=False)


def make_folders(url: str) -> None:
    """See `file_system.make_folders`."""
    if not _is_flat(url):
        act(url, "makedirs", exist_ok=True)


def _is_flat(url: str) -> bool:
    """Whether a place is below a bucket, where there are no folders: making one could make a bucket."""
    system, path = opened(url)
    return bool(protocols(system) & {"s3", "gs", "abfs"}) and "/" in path.strip("/")


def protocols(system: Any) -> set[str]:
    """The schemes of a file system."""
    found = system.protocol
    return {found} if isinstance(found, str) else set(found)


def remove(url: str) -> None:
    """See `file_system.remove`."""
    if _kind(url) is None:  # stores of objects do not say so
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", url)
    with suppress(FileNotFoundError):  # an earlier try has deleted it, or another program
        act(url, "rm_file")


def remove_tree(url: str) -> None:
    """See `file_system.remove_tree`."""
    if _kind(url) is None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", url)
    with suppress(FileNotFoundError):
        act(url, "rm", recursive=True)


def copy(old: str, new: str) -> None:
    """See `file_system.copy`."""
    if old == new:
        return
    if is_url(old) and is_url(new):
        (system, path), (other, target) = opened(old), opened(new)
        if system is other:
            retried(old, lambda: system.cp_file(path, target))
            return
    with file_system.open_file(old, "rb") as source, file_system.open_file(new, "wb") as stream:
        shutil.copyfileobj(source, stream, _BLOCK)


def move(old: str, new: str) -> None:
    """See `file_system.rename`."""
    if old == new:
        return
    if file_system.is_folder(old):
        for top, _, files in list(file_system.walk(old)):
            inside = top[len(old) :].strip("/")
            for name in files:
                target = join(new, *filter(None, [inside, name]))
                file_system.make_folders(folder_of(target))
                copy(join(top, name), target)
        file_system.remove_tree(old)
    else:
        copy(old, new)
        file_system.remove(old)


def put(url: str, data: bytes, exclusive: bool = False) -> None:
    """Write a whole file by one request. Raises FileExistsError, where ``exclusive`` and the store can tell, if it is
    there."""
    options: dict[str, Any] = {}
    if exclusive and guarantees_of(url).creates_new:
        options["mode"] = "create"
    elif exclusive and exists(url):
        raise FileExistsError(errno.EEXIST, "File exists", url)
    act(url, "pipe_file", data, **options)


def put_file(url: str, name: str) -> None:
    """Write a whole file, the content of a large one of this machine."""
    system, path = opened(url)
    retried(url, lambda: system.put_file(name, path))


def get(url: str) -> bytes:
    """Read a whole file."""
    return bytes(act(url, "cat_file"))


def update(url: str, make: Callable[[], bytes]) -> None:
    """Write what a function makes of what is there, by one request between which and the function nobody else has
    written; the function is called again if somebody has.

    So it is where the store has conditional requests. Elsewhere the last one who writes wins.
    """
    known = guarantees_of(url)
    for _ in range(_MOST_CONFLICTS):
        options = _condition(url, known)
        if _put_if(url, make(), options):
            return
    raise OSError(errno.EBUSY, f"other programs have written it {_MOST_CONFLICTS} times meanwhile", url)


def _put_if(url: str, data: bytes, options: dict[str, str]) -> bool:
    """Put a file under a condition, and say whether that has held."""
    system, path = opened(url)
    tries = 0

    def request() -> None:
        nonlocal tries
        tries += 1
        system.pipe_file(path, data, **options)

    try:
        retried(url, request)
    except OSError as error:
        if not options or not _is_conflict(error):
            raise
        # An earlier try may have written it, whose answer was lost.
        return tries > 1 and is_file(url) and get(url) == data
    return True


def _condition(url: str, known: Guarantees) -> dict[str, str]:
    """What lets a request fail if a file is not as it is now, as far as the store knows conditions."""
    try:
        found = fresh(url, "info")
    except FileNotFoundError:
        return {"mode": "create"} if known.creates_new else {}
    return {"IfMatch": str(found["ETag"])} if known.replaces_same else {}


def _is_conflict(error: BaseException | None) -> bool:
    """Whether a request has failed because its condition has not held."""
    if error is None:
        return False
    return isinstance(error, FileExistsError) or status_of(error) in _CONFLICTS or _is_conflict(error.__cause__)
