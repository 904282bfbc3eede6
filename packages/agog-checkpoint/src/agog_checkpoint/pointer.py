"""Pointers: the file ``checkpoint``, with the names of a folder's newest checkpoint and those of a manager."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from agog_checkpoint import compact_json
from agog_checkpoint.commit import commit, translated
from agog_checkpoint.file import file_name
from agog_checkpoint.formats import exists
from agog_checkpoint.regular_file import open_regular
from agog_checkpoint.warning import CheckpointWarning
from agog_core.errors import DataLossError
from agog_core.files import absolute, check_name, file_path, folder_of, is_file, is_url, join

_NAME = "checkpoint"
_NEWEST = "model_checkpoint_path: "
_ALL = "all_model_checkpoint_paths: "
_TIME = "all_model_checkpoint_timestamps: "
_PRESERVED = "last_preserved_timestamp: "
# Comments for TensorFlow, whose format has no such fields.
_METRICS = "# metrics: "
_BEST = "# best: "
_QUOTED = re.compile(r"""(["'])((?:(?!\1)[^\\]|\\.)*)\1""")
_ESCAPED = re.compile(rb"""\\(([0-7]{3})|["'\\])""")


class Kept(NamedTuple):
    """The notes of a `CheckpointManager`: the times of the checkpoints that it may delete, by name, the oldest first.

    Times are in seconds since 1970; ``preserved`` is that of the last checkpoint that is kept for good. ``metrics`` are
    those of the checkpoints that were saved with some, by name; ``best`` names the best checkpoint, for who looks at
    the folder.
    """

    times: Mapping[str, float]
    preserved: float
    metrics: Mapping[str, Mapping[str, float]] = MappingProxyType({})
    best: str | None = None


def point_to(path: str, kept: Kept | None = None, pointer: str | None = None) -> None:
    """Make a checkpoint the newest of its folder, with what a manager notes, if there is one.

    ``pointer`` is the file to write, by default ``checkpoint`` in the checkpoint's folder. Raises OpError if it
    could not be written; it still names the previous checkpoint.
    """
    folder = folder_of(path)
    pointer = pointer or join(folder, _NAME)
    text = _text(name_in(folder_of(pointer), path), kept)

    def write(stream: BinaryIO) -> None:
        stream.write(text)

    commit(pointer, write)


def list_kept(folder: str, newest: str | None, make: Callable[[], Kept]) -> None:
    """Write the notes of a manager, with the name of the newest checkpoint, or with that which is noted. At a URL
    ``make`` is called again where another program has written its notes since. Raises as `point_to`."""
    pointer = join(folder, _NAME)

    def write(stream: BinaryIO) -> None:
        kept = make()
        stream.write(_text(newest_name(pointer) if newest is None else newest, kept))

    if is_url(pointer):
        from agog_checkpoint import remote_commit  # here, because most programs have no URLs

        remote_commit.replace(pointer, write)
    else:
        commit(pointer, write)


def _text(name: str, kept: Kept | None) -> bytes:
    """The lines of a pointer."""
    lines = [_NEWEST + _quoted(name)]
    if kept is None:
        lines.append(_ALL + _quoted(name))
    else:
        lines += [_ALL + _quoted(other) for other in kept.times]
        lines += [f"{_TIME}{time!r}" for time in kept.times.values()]
        lines.append(f"{_PRESERVED}{kept.preserved!r}")
        lines += [_METRICS + compact_json.dump(dict(kept.metrics))] if kept.metrics else []
        lines += [_BEST + _quoted(kept.best)] if kept.best is not None else []
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def name_in(folder: str, path: str) -> str:
    """The entry of a checkpoint in a folder's list: its name, so that the folder can be moved; the whole path of one in
    another folder.
    """
    head, name = folder_of(path), os.path.basename(path)
    return name if not head or absolute(head) == absolute(folder) else absolute(path)


def read_kept(folder: str, name: str = _NAME) -> Kept | None:
    """Read the notes of a `CheckpointManager` in a folder, without those about other folders; None if no manager was
    the last to save. Raises DataLossError if the file is damaged, and PermissionDeniedError if it may not be read.
    """
    pointer = join(folder, name)
    if not is_file(pointer):
        return None
    lines = _lines(pointer)
    names, times = _values(lines, _ALL), _values(lines, _TIME)
    (*_, preserved) = _values(lines, _PRESERVED) or [None]
    (*_, metrics) = _values(lines, _METRICS) or [{}]
    (*_, best) = _values(lines, _BEST) or [None]
    if preserved is None and not times:
        return None
    if (
        len(names) != len(times)
        or not all(isinstance(name, str) and (name == os.path.basename(name) or _is_whole(name)) for name in names)
        or not all(type(time) in (int, float) for time in (*times, preserved))
        or not _are_metrics(metrics)
    ):
        raise DataLossError(
            f"CheckpointManager: the file {pointer!r} is damaged: its list of checkpoints should have a name without "
            f"folders and a time for each, {_PRESERVED.strip(': ')!r} a time, and {_METRICS.strip('# :')!r} numbers. "
            "Remove the file to begin a new list; no checkpoint is deleted by that."
        )
    own = {name: time for name, time in zip(names, times, strict=True) if not _is_whole(name)}
    return Kept(own, preserved, metrics, best if isinstance(best, str) else None)


def _is_whole(name: str) -> bool:
    """Whether a list has a checkpoint of another folder, by its whole path."""
    return os.path.isabs(name) or is_url(name)


def read_listed(pointer: str) -> tuple[list[str], list[float], float]:
    """The checkpoints that an existing file lists, the oldest first, and their times: as many, or none; and that of the
    last one that is kept for good, or 0.0. Raises DataLossError if that is damaged, and PermissionDeniedError if it may
    not be read."""
    lines = _lines(pointer)
    names, times = _values(lines, _ALL), _values(lines, _TIME)
    (*_, preserved) = _values(lines, _PRESERVED) or [0.0]
    if (
        not all(isinstance(name, str) and name and "\0" not in name for name in names)
        or not all(type(time) in (int, float) for time in (*times, preserved))
        or len(times) not in (0, len(names))
    ):
        raise DataLossError(
            f"get_checkpoint_state: the file {pointer!r} is damaged: each '{_ALL}' should be followed by a name in "
            f"quotes, each '{_TIME}' by a number, and there should be as many of these, or none. Restore a checkpoint "
            "of that folder by its own path."
        )
    return names, times, preserved


def newest_name(pointer: str) -> str:
    """The name of the newest checkpoint, from the existing file that says it. Raises DataLossError if that is
    damaged, and PermissionDeniedError if it may not be read."""
    lines = _lines(pointer)
    (name, *_) = _values(lines, _NEWEST) or [None]
    if not isinstance(name, str) or not name or "\0" in name:
        raise DataLossError(
            f"latest_checkpoint: the file {pointer!r} is damaged: it should have a line '{_NEWEST}\"NAME\"', but "
            f"begins with {next(filter(None, lines), '')[:60]!r}. Restore a checkpoint of that folder by its own path."
        )
    return name


def _are_metrics(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(metrics, dict) and all(type(number) in (int, float) for number in metrics.values())
        for metrics in value.values()
    )


def _lines(pointer: str) -> list[str]:
    """The lines of a pointer, without the blanks around them that people write."""
    try:
        with open_regular(pointer) as stream:
            return [line.strip() for line in stream.read().decode("utf-8", "surrogateescape").split("\n")]
    except OSError as error:
        raise translated(error, "read", pointer) from error


def _values(lines: list[str], field: str) -> list[Any]:
    return [_parsed(line.removeprefix(field)) for line in lines if line.startswith(field)]


def _parsed(text: str) -> Any:
    try:
        return compact_json.load(text)
    except (ValueError, RecursionError):
        return _unescaped(text)


def _unescaped(text: str) -> str | None:
    """A text in quotes as TensorFlow writes it: bytes beyond ASCII are escaped by octal numbers."""
    found = _QUOTED.fullmatch(text)
    if found is None:
        return None
    raw = _ESCAPED.sub(_escaped_byte, found[2].encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "surrogateescape")


def _escaped_byte(found: re.Match[bytes]) -> bytes:
    return found[1] if found[2] is None else bytes([int(found[2], 8) & 255])


def _quoted(name: str) -> str:
    return compact_json.dump(name, ensure_ascii=False)


def latest_checkpoint(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> str | None:
    """Find the newest checkpoint of a folder.

    Args:
        checkpoint_dir: the folder.
        latest_filename: the name of the file that names it; None for ``checkpoint``.

    Returns:
        The path for `Checkpoint.restore`, or None if nothing was saved or the folder does not exist. None with a
        warning if the folder's newest checkpoint is gone.

    Raises:
        DataLossError: the file that names the newest checkpoint is damaged.
        PermissionDeniedError: it may not be read.

    >>> latest_checkpoint("a-folder-that-does-not-exist") is None
    True
    """
    folder = file_path("latest_checkpoint", checkpoint_dir)
    check_name("latest_checkpoint", latest_filename or _NAME)
    pointer = join(folder, latest_filename or _NAME)
    if not is_file(pointer):
        return None
    name = newest_name(pointer)
    path = join(folder, name)
    while not exists(path) and is_file(pointer) and newest_name(pointer) != name:
        # A program that saves has named another one since, and deleted this one.
        name = newest_name(pointer)
        path = join(folder, name)
    if not exists(path):
        warnings.warn(
            f"latest_checkpoint: the file {pointer!r} names {name!r} as the newest checkpoint, but neither "
            f"{file_name(path)!r} nor TensorFlow's {path + '.index'!r} exists. Restore another checkpoint "
            "of that folder by its own path.",
            CheckpointWarning,
            stacklevel=2,
        )
        return None
    return path
