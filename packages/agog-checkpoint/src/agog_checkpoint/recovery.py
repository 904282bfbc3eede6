"""Recovery: removal of temporary files and shards without an index that crashes have left."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from typing import BinaryIO

from agog_checkpoint import compact_json
from agog_checkpoint.regular_file import open_regular
from agog_checkpoint.safetensors_file import LONGEST_HEADER, metadata_of
from agog_core.files import folder_of, is_url, join, modified, names_in, remove

try:
    import fcntl
except ImportError:  # not a POSIX system; open files cannot be removed there, so nothing need say that they are in use
    fcntl = None  # type: ignore[assignment]

INDEX_SUFFIX = ".safetensors.index.json"
_LONGEST_SAVE = 86_400.0  # seconds
# The name of the file that it will be, and the commit's id.
_TEMPORARY = re.compile(r"\..+\.([0-9a-f]{16})\.agog-tmp", re.DOTALL)
# The checkpoint's name, the save's id if an older checkpoint of that name had shards of the usual names, a number.
_SHARD = re.compile(r"((.+?)(?:\.[0-9a-f]{16})?)-[0-9]{5}-of-[0-9]{5}\.safetensors", re.DOTALL)


def lock(stream: BinaryIO, wait: bool) -> None:
    """Lock a file for this process, as far as the system has locks. Raises OSError if another process holds it and
    ``wait`` is False, or where the file system has no locks."""
    if fcntl is not None:
        fcntl.flock(stream, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def temporary_name(path: str, commit_id: str) -> str:
    """The file, in the same folder, that a commit writes before it takes the place of another."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{commit_id}.agog-tmp")


def remove_stale(folder: str) -> None:
    """Remove what crashes left; files in progress stay, and the next save retries failed removals. Raises OSError if
    the folder cannot be read. Of a folder at a URL, where nothing is locked, only what `stale_files` names goes.
    """
    if is_url(folder):
        for name in stale_files(folder):
            with suppress(OSError):
                remove(join(folder, name))
        return
    names = os.listdir(folder)
    commits: dict[str, list[str]] = {}
    for name in names:
        if found := _TEMPORARY.fullmatch(name):
            commits.setdefault(found[1], []).append(os.path.join(folder, name))
    going_on = {commit_id for commit_id, temporaries in commits.items() if not _removed(temporaries)}
    for name in _orphans(folder, names, going_on):
        with suppress(OSError):
            os.unlink(os.path.join(folder, name))


def stale_files(folder: str) -> list[str]:
    """The sorted names, without the folder, of what `remove_stale` would remove. Raises OSError if the folder cannot
    be read. At a URL nothing tells whether a save goes on: there these are the shards of a day ago that no index
    names."""
    if is_url(folder):
        return sorted(_old_orphans(folder))
    names = sorted(os.listdir(folder))
    temporaries = {name: found[1] for name in names if (found := _TEMPORARY.fullmatch(name))}
    going_on = {commit_id for name, commit_id in temporaries.items() if _is_locked(os.path.join(folder, name))}
    stale = [name for name, commit_id in temporaries.items() if commit_id not in going_on]
    return sorted([*stale, *_orphans(folder, names, going_on)])


def is_shard(name: str) -> bool:
    """Whether a file's name, without its folder, is that of a shard."""
    return _SHARD.fullmatch(name) is not None


def shards_of(path: str) -> Iterator[str]:
    """The shards, with their folder, of a checkpoint's path that agog wrote, whether its index names them or not."""
    folder, stem = os.path.split(path)
    names = set(os.listdir(folder or "."))
    for name in names:
        found = _SHARD.fullmatch(name)
        if found is not None and found[2] == stem and (found[1] == stem or found[1] + INDEX_SUFFIX not in names):
            shard = os.path.join(folder, name)
            if save_id_of(shard):
                yield shard


def shards_in(path: str) -> list[str]:
    """The shards that the index of a checkpoint names, with their folder; none if there is no index. Raises OSError if
    it cannot be read, and ValueError if it is damaged."""
    try:
        with open_regular(path + INDEX_SUFFIX) as stream:
            text = stream.read(LONGEST_HEADER).decode()
    except FileNotFoundError:
        return []
    try:
        places = set(compact_json.load(text)["weight_map"].values())
    except (TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ValueError("it has no weight_map") from error
    return [join(folder_of(path), name) for name in sorted(map(str, places)) if is_shard(name)]


def save_id_of(shard: str) -> str | None:
    """The id of the save that wrote a shard, or None for a file of another program."""
    try:
        found = metadata_of(shard).get("agog_save")
    except (OSError, ValueError):
        return None
    return found if isinstance(found, str) else None


def _removed(temporaries: list[str]) -> bool:
    """Remove the temporary files of a commit, unless its process holds the lock on one of them, or one is no file."""
    try:
        with ExitStack() as streams:
            if fcntl is not None:
                for name in temporaries:
                    lock(streams.enter_context(open_regular(name)), wait=False)
            for name in temporaries:
                os.unlink(name)
    except OSError:
        return False
    return True


def _is_locked(temporary: str) -> bool:
    try:
        with open_regular(temporary) as stream:
            lock(stream, wait=False)
    except OSError:
        return True
    return False


def _orphans(folder: str, names: Iterable[str], going_on: set[str]) -> Iterator[str]:
    """The shards of agog without an index, other than those of commits that go on."""
    there = set(names)
    for name in there:
        if is_shard(name) and not there & _indexes(name):
            save_id = save_id_of(os.path.join(folder, name))
            # Its index may have come to its place just now.
            came = any(os.path.exists(os.path.join(folder, index)) for index in _indexes(name))
            if save_id and save_id not in going_on and not came:
                yield name


def _old_orphans(folder: str) -> Iterator[str]:
    names = names_in(folder)
    named: set[str] = set()
    for index in names:
        if index.endswith(INDEX_SUFFIX):
            stem = index.removesuffix(INDEX_SUFFIX)
            try:
                named.update(map(os.path.basename, shards_in(join(folder, stem))))
            except ValueError:  # nothing tells which of them are its own
                named.update(name for name in names if (found := _SHARD.fullmatch(name)) and found[2] == stem)
    for name in names:
        if is_shard(name) and name not in named and save_id_of(join(folder, name)):
            with suppress(FileNotFoundError):
                if time.time() - modified(join(folder, name)) > _LONGEST_SAVE:
                    yield name


def _indexes(shard: str) -> set[str]:
    """The names that the index of a shard may have: what looks like an id may belong to the checkpoint's name."""
    found = _SHARD.fullmatch(shard)
    return {found[1] + INDEX_SUFFIX, found[2] + INDEX_SUFFIX} if found is not None else set()
