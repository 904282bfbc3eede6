"""The file ``checkpoint`` in a folder, which names the folder's newest checkpoint."""

from __future__ import annotations

import os
import warnings
from typing import BinaryIO

from agog_checkpoint import compact_json
from agog_checkpoint.commit import commit, translated
from agog_checkpoint.file import file_name
from agog_checkpoint.warning import CheckpointWarning
from agog_core.errors import DataLossError

_NAME = "checkpoint"
_NEWEST = "model_checkpoint_path: "
_ALL = "all_model_checkpoint_paths: "


def point_to(path: str) -> None:
    """Make a checkpoint the newest of its folder.

    Args:
        path: what `Checkpoint.save` returns.

    Raises:
        OpError: the pointer could not be written; it still names the previous checkpoint.
    """
    folder, name = os.path.split(path)
    # The name and not the path, so that the folder can be moved.
    quoted = compact_json.dump(name, ensure_ascii=False)
    text = f"{_NEWEST}{quoted}\n{_ALL}{quoted}\n".encode("utf-8", "surrogateescape")

    def write(stream: BinaryIO) -> None:
        stream.write(text)

    commit(os.path.join(folder, _NAME), write)


def latest_checkpoint(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> str | None:
    """Find the newest checkpoint of a folder.

    Args:
        checkpoint_dir: the folder.
        latest_filename: the name of the file that names it; None for ``checkpoint``.

    Returns:
        The path to give to `Checkpoint.restore`, or None where nothing was saved, also for a folder that does not
        exist. Where the checkpoint is gone that the folder names as its newest, None too, with a warning.

    Raises:
        DataLossError: the file that names the newest checkpoint is damaged.
        PermissionDeniedError: it may not be read.

    >>> latest_checkpoint("a-folder-that-does-not-exist") is None
    True
    """
    folder = os.fspath(checkpoint_dir)
    pointer = os.path.join(folder, latest_filename or _NAME)
    if not os.path.isfile(pointer):
        return None
    try:
        with open(pointer, encoding="utf-8", errors="surrogateescape") as stream:
            line = stream.readline(100_000)
    except OSError as error:
        raise translated(error, "read", pointer) from error
    try:
        name = compact_json.load(line.removeprefix(_NEWEST)) if line.startswith(_NEWEST) else None
    except (ValueError, RecursionError):
        name = None
    if not isinstance(name, str) or not name or "\0" in name:
        raise DataLossError(
            f"latest_checkpoint: the file {pointer!r} is damaged: it should begin with '{_NEWEST}\"NAME\"', but begins "
            f"with {line[:60]!r}. Restore a checkpoint of that folder by its own path."
        )
    path = os.path.join(folder, name)
    if not os.path.isfile(file_name(path)):
        warnings.warn(
            f"latest_checkpoint: the file {pointer!r} names {name!r} as the newest checkpoint, but {file_name(path)!r} "
            "does not exist. Restore another checkpoint of that folder by its own path.",
            CheckpointWarning,
            stacklevel=2,
        )
        return None
    return path
