"""Files of checkpoints, by their paths: one safetensors file, or several with an index."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from agog_checkpoint import layout, safetensors_file, shards
from agog_checkpoint.commit import commit, delete, delete_old, translated, warn_of_old
from agog_checkpoint.garbage_collection import without_collection
from agog_checkpoint.graph import Graph
from agog_checkpoint.objects import Snapshot
from agog_checkpoint.recovery import INDEX_SUFFIX, shards_in, shards_of
from agog_checkpoint.safetensors_file import Array
from agog_core.errors import DataLossError, NotFoundError
from agog_core.files import exists as exists_file
from agog_core.files import is_file, is_folder, is_url

SUFFIX = ".safetensors"


def file_name(path: str) -> str:
    """The file of a checkpoint without shards, by a path with or without ``.safetensors``."""
    return path if path.endswith(SUFFIX) else path + SUFFIX


def index_name(path: str) -> str:
    """The index of a sharded checkpoint, by a path with or without ``.safetensors``."""
    return path.removesuffix(SUFFIX) + INDEX_SUFFIX


def exists(path: str) -> bool:
    """Whether there is a checkpoint at a path; nothing is read."""
    return main_file(path) is not None


def main_file(path: str) -> str | None:
    """The file that comes to its place last when a checkpoint is saved: the only one, or the index of several. None
    if there is no checkpoint."""
    return next((file for file in (file_name(path), index_name(path)) if is_file(file)), None)


def save(
    path: str,
    saved: Snapshot,
    max_shard_bytes: int | None = None,
    then: Callable[[], None] | None = None,
    division: shards.Division | None = None,
) -> None:
    """Save a snapshot; a crash at any instant leaves what the path named before, or the new checkpoint, whole. If
    several programs save to one path, one of the files remains, whole.

    A file has at most ``max_shard_bytes`` of tensors; None for one file of any size. ``then`` is called before another
    program may change what is in the folder. With ``division`` other processes write some of the shards. Raises
    InvalidArgumentError if the header would be longer than readers accept, and OpError if the system failed; what was
    saved before is as it was.
    """
    plain, index = file_name(path), index_name(path)
    variables = [] if max_shard_bytes is None else shards.groups(saved.graph.variables(), max_shard_bytes)

    def end() -> None:
        if len(variables) > 1:
            delete(plain)
        elif exists_file(index):  # otherwise it does no harm: the one file counts
            stem = path.removesuffix(SUFFIX)
            if is_url(path):
                named = _named(stem)
                delete(index)
                shards.remove_all(named)
            else:
                delete(index)
                shards.remove_shards(stem)
        if then is not None:
            then()

    if len(variables) > 1:
        shards.write(path.removesuffix(SUFFIX), saved, variables, end, division)
    else:
        commit(plain, partial(write, saved=saved), then=end)


def save_file(file: str, saved: Snapshot) -> None:
    """Save a snapshot into one file of any name, as `save` does."""
    commit(file, partial(write, saved=saved))


def remove(path: str) -> bool:
    """Delete a checkpoint that newer ones have replaced, the index before its shards, and say whether it is gone; warn
    if that fails."""
    stem = path.removesuffix(SUFFIX)
    try:
        named = _named(stem) if is_url(path) else None
    except OSError as error:
        warn_of_old(path, error)
        return False
    # Without asking what is there: the answer may be wrong where the disk fails.
    if not (delete_old(file_name(path)) and delete_old(index_name(path))):
        return False
    try:
        return all(delete_old(shard) for shard in (shards_of(stem) if named is None else named))
    except OSError:  # without their index, the next save removes them
        return True


def _named(stem: str) -> list[str]:
    """The shards that an index at a URL names, as far as it is whole; others may be those of saves that go on."""
    try:
        return shards_in(stem)
    except ValueError:
        return []


def write(stream: BinaryIO, saved: Snapshot) -> None:
    """Write a snapshot into an empty file. Raises InvalidArgumentError if the header would be longer than readers
    accept."""
    variables = layout.in_order(saved.graph.variables())
    # The checksums are known only after the tensors are written, one at a time; they do not change the header's length.
    entries = layout.entries_of(variables)
    stream.write(layout.header(entries, layout.graph_metadata(saved.graph)))
    layout.write_tensors(stream, variables, saved.values)
    stream.seek(0)
    stream.write(layout.header(entries, layout.graph_metadata(saved.graph)))


def read(path: str) -> tuple[Graph, dict[str, Array]]:
    """Read a checkpoint and check every byte of it: the graph, and the values by key; see `read_file`.

    Raises NotFoundError if there is no such checkpoint.
    """
    file = main_file(path)
    if file is None:
        hint = "; it is a folder, so pass latest_checkpoint of it" if is_folder(path) else ""
        raise NotFoundError(
            f"Checkpoint: there is no checkpoint {path!r}: neither {file_name(path)!r} nor TensorFlow's "
            f"{path + '.index'!r} exists{hint}."
        )
    return read_file(file)


@without_collection()
def read_file(file: str) -> tuple[Graph, dict[str, Array]]:
    """Read a file of any name, and its shards where it is an index: the graph, and the values by key.

    They are views of the mapped files, which may be replaced or removed meanwhile; writing into them changes no file.
    Raises PermissionDeniedError if a file may not be read, and DataLossError if it is not a whole checkpoint.
    """
    try:
        if file.endswith(INDEX_SUFFIX):
            return shards.read(file)
        tensors, metadata = safetensors_file.read(file)
        graph = layout.parse_metadata(metadata)
        return graph, layout.verified(tensors, graph.variables())
    except OSError as error:
        raise translated(error, "read", file) from error
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError) as error:
        raise DataLossError(
            f"Checkpoint: the file {file!r} is not a whole checkpoint: {error}. Nothing was changed; restore another "
            "checkpoint."
        ) from error
