"""Folders of checkpoints: their lists, times, removal, and waiting for the next checkpoint."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from agog_checkpoint import file
from agog_checkpoint.formats import is_of_tensorflow, time_of
from agog_checkpoint.pointer import Kept, latest_checkpoint, name_in, newest_name, point_to, read_listed
from agog_checkpoint.recovery import INDEX_SUFFIX, is_shard, shards_in, shards_of
from agog_checkpoint.safetensors_file import metadata_of
from agog_core.files import check_name, file_path, is_file, is_url, join, modified, names_in

_NAME = "checkpoint"
_LONGEST_PAUSE = 1.0


class CheckpointState(NamedTuple):
    """The contents of a folder's file ``checkpoint``.

    Args:
        model_checkpoint_path: the path of the newest checkpoint.
        all_model_checkpoint_paths: the paths of all that are kept, the oldest first.
        all_model_checkpoint_timestamps: when they were made, in seconds since 1970; empty if that was not noted.
        last_preserved_timestamp: when the last one was made that is kept for good; 0.0 if that was not noted.
    """

    model_checkpoint_path: str
    all_model_checkpoint_paths: list[str]
    all_model_checkpoint_timestamps: list[float]
    last_preserved_timestamp: float


def get_checkpoint_state(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> CheckpointState | None:
    """Read which checkpoints a folder lists.

    Args:
        checkpoint_dir: the folder.
        latest_filename: the name of the file that lists them; None for ``checkpoint``.

    Returns:
        The list, or None if there is no such file.

    Raises:
        DataLossError: the file is damaged.
        PermissionDeniedError: it may not be read.

    >>> get_checkpoint_state("a-folder-that-does-not-exist") is None
    True
    """
    folder, name = file_path("get_checkpoint_state", checkpoint_dir), latest_filename or _NAME
    check_name("get_checkpoint_state", name)
    pointer = join(folder, name)
    if not is_file(pointer):
        return None
    newest = join(folder, newest_name(pointer))
    names, times, preserved = read_listed(pointer)
    paths = [join(folder, name) for name in names] or [newest]
    return CheckpointState(newest, paths, times, preserved)


def generate_checkpoint_state_proto(
    save_dir: str | os.PathLike[str],
    model_checkpoint_path: str | os.PathLike[str],
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> CheckpointState:
    """The contents for a folder's file ``checkpoint``; for a relative folder, with paths relative to it.

    Args:
        save_dir: the folder.
        model_checkpoint_path: the newest checkpoint.
        all_model_checkpoint_paths: all that are kept, the oldest first; the newest is put at the end where it is not.
        all_model_checkpoint_timestamps: when they were made.
        last_preserved_timestamp: when the last one was made that is kept for good.

    Returns:
        A `CheckpointState`.

    Raises:
        ValueError: there is not a time for each checkpoint.

    >>> generate_checkpoint_state_proto("/runs", "/runs/ckpt-2", ["/runs/ckpt-1"]).all_model_checkpoint_paths
    ['/runs/ckpt-1', '/runs/ckpt-2']
    """
    newest, folder = os.fsdecode(model_checkpoint_path), os.fsdecode(save_dir)
    paths = list(all_model_checkpoint_paths or ())
    times = list(all_model_checkpoint_timestamps or ())
    if times and len(times) != len(paths):
        raise ValueError(
            f"generate_checkpoint_state_proto: there must be a time for each checkpoint; got {len(times)} times for "
            f"{len(paths)} checkpoints."
        )
    if paths[-1:] != [newest]:
        paths.append(newest)
        times += [time.time()] if times else []
    if not (os.path.isabs(folder) or is_url(folder)):
        newest, *paths = [
            os.path.relpath(path, folder) if not os.path.isabs(path) else path for path in (newest, *paths)
        ]
    return CheckpointState(newest, paths, times, last_preserved_timestamp or 0.0)


def update_checkpoint_state(
    save_dir: str | os.PathLike[str],
    model_checkpoint_path: str | os.PathLike[str],
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Write the names of a folder's newest checkpoint and of the other kept ones.

    Args:
        save_dir: the folder.
        model_checkpoint_path: the newest checkpoint; a bare name is one in that folder.
        all_model_checkpoint_paths: all that are kept, the oldest first; None for the newest alone. Those in other
            folders are listed by their whole paths, and no `CheckpointManager` deletes them.
        latest_filename: the name of the file that lists them; None for ``checkpoint``.
        all_model_checkpoint_timestamps: when they were made; None for the times of their files.
        last_preserved_timestamp: when the last one was made that is kept for good; None for now.

    Raises:
        ValueError: there is not a time for each checkpoint.
        PermissionDeniedError: the folder may not be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     update_checkpoint_state(
    ...         folder, f"{folder}/ckpt-2", [f"{folder}/ckpt-1", f"{folder}/ckpt-2"], None, [1.0, 2.0]
    ...     )
    ...     get_checkpoint_state(folder).all_model_checkpoint_timestamps
    [1.0, 2.0]
    """
    folder = file_path("update_checkpoint_state", save_dir)
    check_name("update_checkpoint_state", latest_filename or _NAME)
    newest = _name_in(folder, model_checkpoint_path)
    kept = None
    if all_model_checkpoint_paths is not None:
        names = [_name_in(folder, path) for path in all_model_checkpoint_paths]
        times = all_model_checkpoint_timestamps
        if times is not None and len(times) != len(names):
            raise ValueError(
                f"update_checkpoint_state: there must be a time for each checkpoint; got {len(times)} times for "
                f"{len(names)} checkpoints."
            )
        made = [_time_of(join(folder, name)) for name in names] if times is None else map(float, times)
        by_name = dict(zip(names, made, strict=True))
        by_name.setdefault(newest, time.time())
        kept = Kept(by_name, time.time() if last_preserved_timestamp is None else float(last_preserved_timestamp))
    point_to(join(folder, newest), kept, join(folder, latest_filename or _NAME))


def _name_in(folder: str, given: str | os.PathLike[str]) -> str:
    return name_in(folder, file_path("update_checkpoint_state", given))


def _time_of(path: str) -> float:
    try:
        return time_of(path) or time.time()
    except OSError:
        return time.time()


def checkpoints_in(folder: str | os.PathLike[str]) -> list[str]:
    """The paths of all checkpoints of agog in a folder, listed or not, in the order of their times.

    Raises OSError if the folder cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoints_in(folder)
    []
    """
    folder = file_path("checkpoints_in", folder)
    times: dict[str, float] = {}
    for name in sorted(names_in(folder)):
        path = join(folder, name)
        if is_file(path):  # reading a pipe, say, would wait for ever
            with suppress(FileNotFoundError):  # a program that saves deletes old ones
                if name.endswith(INDEX_SUFFIX):
                    times[path.removesuffix(INDEX_SUFFIX)] = modified(path)
                elif name.endswith(file.SUFFIX) and not is_shard(name) and _is_of_agog(path):
                    times[path.removesuffix(file.SUFFIX)] = modified(path)
    return sorted(times, key=times.__getitem__)


def _is_of_agog(path: str) -> bool:
    """Whether a file is a checkpoint of agog, or may have been one before it was damaged."""
    try:
        return "agog_format" in metadata_of(path)
    except (ValueError, PermissionError):
        return True


def files_of(path: str | os.PathLike[str]) -> list[str]:
    """The files, with their folder, that a checkpoint consists of: the only one, or the index and the shards.

    >>> files_of("a-folder-that-does-not-exist/ckpt-1")
    []
    """
    path = file_path("files_of", path)
    if is_of_tensorflow(path):
        from agog_checkpoint.tensorflow import location

        return location.files_of(path)
    main = file.main_file(path)
    if main is None or not main.endswith(INDEX_SUFFIX):
        return [] if main is None else [main]
    stem = main.removesuffix(INDEX_SUFFIX)
    return [main, *(shards_in(stem) if is_url(stem) else sorted(shards_of(stem)))]


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[str | os.PathLike[str]]) -> list[float]:
    """When checkpoints were written.

    Args:
        checkpoint_prefixes: their paths.

    Returns:
        Seconds since 1970, for those that exist.

    >>> get_checkpoint_mtimes(["a-folder-that-does-not-exist/ckpt-1"])
    []
    """
    times = [time_of(file_path("get_checkpoint_mtimes", prefix)) for prefix in checkpoint_prefixes]
    return [found for found in times if found is not None]


def remove_checkpoint(
    checkpoint_prefix: str | os.PathLike[str], checkpoint_format_version: object = None, meta_graph_suffix: str = "meta"
) -> None:
    """Remove a checkpoint; if there is none, do nothing. The folder's file ``checkpoint`` stays as it is.

    Args:
        checkpoint_prefix: its path.

    >>> remove_checkpoint("a-folder-that-does-not-exist/ckpt-1")
    """
    file.remove(file_path("remove_checkpoint", checkpoint_prefix))


def checkpoints_iterator(
    checkpoint_dir: str | os.PathLike[str],
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Wait for the checkpoints that another program saves into a folder, and give the newest each time.

    Args:
        checkpoint_dir: the folder.
        min_interval_secs: how many seconds there are between two checkpoints at least.
        timeout: how many seconds to wait for the next checkpoint; None to wait for ever.
        timeout_fn: called without arguments when that time is over; True ends the iterator; None ends it always.

    Yields:
        The path of a checkpoint that was not given before.

    >>> list(checkpoints_iterator("a-folder-that-does-not-exist", timeout=0))
    []
    """
    given = None
    while True:
        asked = time.monotonic()
        newest = latest_checkpoint(checkpoint_dir)
        while newest is None or newest == given:
            left = float("inf") if timeout is None else asked + timeout - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(_LONGEST_PAUSE, left))
            newest = latest_checkpoint(checkpoint_dir)
        if newest is None or newest == given:
            if timeout_fn is None or timeout_fn():
                return
            continue
        begun = time.monotonic()
        given = newest
        yield newest
        time.sleep(max(0.0, begun + min_interval_secs - time.monotonic()))
