"""Shards: a checkpoint in several safetensors files and an index, in the layout of the Hugging Face Hub.

``prefix-00001-of-00003.safetensors`` and so on hold the tensors; ``prefix.safetensors.index.json`` holds the file of
each tensor, and the object graph. Each shard has the id of its save in its metadata, and so has the index.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from typing import Any, BinaryIO, NamedTuple

from agog_checkpoint import compact_json, layout, safetensors_file
from agog_checkpoint.commit import Elsewhere, commit, new_id, translated, write_elsewhere
from agog_checkpoint.graph import Graph, SavedVariable
from agog_checkpoint.objects import Snapshot
from agog_checkpoint.recovery import INDEX_SUFFIX, is_shard, shards_in, shards_of, temporary_name
from agog_checkpoint.regular_file import open_regular
from agog_checkpoint.safetensors_file import LONGEST_HEADER, Array
from agog_core.errors import InvalidArgumentError
from agog_core.files import folder_of, is_file, is_url, join, remove


def groups(variables: list[SavedVariable], max_shard_bytes: int) -> list[list[SavedVariable]]:
    """The variables of each shard, in order: a shard has at most ``max_shard_bytes`` of tensors, but for a larger one,
    which has a shard of its own."""
    shards: list[list[SavedVariable]] = []
    rest = 0
    for variable in layout.in_order(variables):
        size = layout.size_of(variable)
        if not shards or size > rest:
            shards.append([])
            rest = max_shard_bytes
        shards[-1].append(variable)
        rest -= size
    return shards


class Division(NamedTuple):
    """Who writes which shards where several processes save together.

    Args:
        save_id: the id of the save.
        rank, size: the number of this process, and how many there are.
        begin, wait: how rank 0, which commits, hears of the others; see `Elsewhere`.
    """

    save_id: str
    rank: int
    size: int
    begin: Callable[[], None]
    wait: Callable[[], None]

    def is_own(self, number: int) -> bool:
        """Whether this process writes a shard."""
        return writer_of(number, self.size) == self.rank


def writer_of(number: int, size: int) -> int:
    """Which of so many processes writes a shard."""
    return number % size


def write(
    path: str,
    saved: Snapshot,
    shards: list[list[SavedVariable]],
    then: Callable[[], None],
    division: Division | None = None,
) -> None:
    """Save a snapshot in shards, and call ``then``. Raises OpError if the system failed; an older checkpoint of
    this path is as it was.
    """
    stem = os.path.basename(path)
    save_id = new_id() if division is None else division.save_id
    names = _names(stem, len(shards))
    own = [name for number, name in enumerate(names) if division is None or division.is_own(number)]

    replaced: set[str] = set()  # shards at a URL, where others may save at the same time

    @cache  # what it finds does not change while the folder is locked
    def is_over_another() -> bool:
        return is_url(path) or os.path.exists(path + INDEX_SUFFIX)

    def placed(name: str) -> str:
        # Shards of an older save stay until the new index is in its place.
        return _own_name(stem, name, save_id) if is_over_another() else name

    def write_index(stream: BinaryIO) -> None:
        if is_url(path):
            with suppress(ValueError):
                replaced.update(shards_in(path))
        total = sum(layout.size_of(variable) for variables in shards for variable in variables)
        places = map(placed, names)
        weight_map = {v.key: name for name, variables in zip(places, shards, strict=True) for v in variables}
        # The graph has the checksums of the shards, which are written by now.
        index = {
            "metadata": {"total_size": total, **_metadata(save_id), **layout.graph_metadata(saved.graph)},
            "weight_map": weight_map,
        }
        text = compact_json.dump(index).encode()
        if len(text) > LONGEST_HEADER:
            raise InvalidArgumentError(
                f"Checkpoint: the names, the shapes and the state outside of variables take {len(text)} bytes, but an "
                f"index holds at most {LONGEST_HEADER} of them; keep large state in variables."
            )
        stream.write(text)

    writers = {
        name: partial(_write_shard, variables=variables, saved=saved, save_id=save_id)
        for name, variables in zip(names, shards, strict=True)
        if name in own
    }
    elsewhere = None
    if division is not None:
        elsewhere = Elsewhere([name for name in names if name not in own], division.begin, division.wait)

    def end() -> None:
        kept = set(map(placed, names))
        if is_url(path):
            remove_all(shard for shard in replaced if os.path.basename(shard) not in kept)
        else:
            remove_shards(path, keep=kept)
        then()

    commit(path + INDEX_SUFFIX, write_index, writers, save_id, placed, end, elsewhere)


def write_own(path: str, saved: Snapshot, shards: list[list[SavedVariable]], division: Division) -> dict[str, str]:
    """Write this process's shards of a save that another one commits: the checksums of their tensors, by key."""
    checksums = {}
    for number, name in enumerate(_names(path, len(shards))):
        if division.is_own(number):
            write_shard = partial(_write_shard, variables=shards[number], saved=saved, save_id=division.save_id)
            write_elsewhere(_temporary(path, name, division), write_shard)
            checksums.update({variable.key: variable.checksum for variable in shards[number]})
    return checksums


def discard_own(path: str, count: int, division: Division) -> None:
    """Remove what `write_own` has written of so many shards, since the save has failed."""
    for number, name in enumerate(_names(path, count)):
        if division.is_own(number):
            with suppress(OSError):
                remove(_temporary(path, name, division))


def _temporary(path: str, name: str, division: Division) -> str:
    """Where a shard is written of which another process will say that it counts."""
    own = division.save_id
    return _own_name(path, name, own) if is_url(path) else temporary_name(name, own)


def _own_name(stem: str, name: str, save_id: str) -> str:
    """The name of a shard that no other save has."""
    return f"{stem}.{save_id}{name.removeprefix(stem)}"


def _names(stem: str, count: int) -> list[str]:
    return [f"{stem}-{number:05}-of-{count:05}.safetensors" for number in range(1, count + 1)]


def _metadata(save_id: str) -> dict[str, str]:
    return {"agog_format": layout.VERSION, "agog_save": save_id}


def _write_shard(stream: BinaryIO, variables: list[SavedVariable], saved: Snapshot, save_id: str) -> None:
    stream.write(layout.header(layout.entries_of(variables), _metadata(save_id)))
    layout.write_tensors(stream, variables, saved.values)


def read(file: str) -> tuple[Graph, dict[str, Array]]:
    """Read a checkpoint in shards, by its index, and check every byte of it: the graph, and the values by key. Raises
    OpError or OSError if a file cannot be read, and ValueError if the index or a shard is damaged.
    """
    with open_regular(file) as stream:
        if (size := stream.seek(0, os.SEEK_END)) > LONGEST_HEADER:
            raise ValueError(f"it has {size} bytes, but an index has at most {LONGEST_HEADER}")
        stream.seek(0)
        content = stream.read(LONGEST_HEADER)
    try:
        index = compact_json.load(content.decode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON ({error})") from error
    if not isinstance(index, dict) or not index.keys() >= {"metadata", "weight_map"}:
        raise ValueError("it has not the two parts metadata and weight_map")
    graph = layout.parse_metadata(index["metadata"])
    save_id, places = index["metadata"].get("agog_save"), index["weight_map"]
    variables = graph.variables()
    if not isinstance(places, dict) or places.keys() != {variable.key for variable in variables}:
        raise ValueError("its weight_map and its object graph do not name the same tensors")
    of_shards: dict[str, list[SavedVariable]] = {}
    for variable in variables:
        name = places[variable.key]
        if not isinstance(name, str) or not is_shard(name) or name != os.path.basename(name) or "\0" in name:
            raise ValueError(f"its weight_map has {name!r} for {variable.key!r}, which is not the name of a shard")
        of_shards.setdefault(name, []).append(variable)
    arrays: dict[str, Array] = {}
    for name, expected in of_shards.items():
        shard = join(folder_of(file), name)
        if not is_file(shard):
            raise ValueError(f"its shard {shard!r} does not exist")
        try:
            arrays |= _read_shard(shard, save_id, expected)
        except OSError as error:
            raise translated(error, "read", shard) from error
        except ValueError as error:
            raise ValueError(f"in its shard {shard!r}, {error}") from error
    return graph, arrays


def _read_shard(shard: str, save_id: Any, expected: list[SavedVariable]) -> dict[str, Array]:
    tensors, metadata = safetensors_file.read(shard)
    found = metadata.get("agog_save")
    if found is None or found != save_id:
        raise ValueError(
            f"the id of the save is {found!r}, but in the index it is {save_id!r}: they do not belong together"
        )
    return layout.verified(tensors, expected)


def remove_all(shards: Iterable[str]) -> None:
    """Delete shards that no index names any more; one that cannot be deleted is left."""
    for shard in shards:
        with suppress(OSError):
            remove(shard)


def remove_shards(path: str, keep: set[str] | frozenset[str] = frozenset()) -> None:
    """Delete the shards of a checkpoint's path but for those named in ``keep``; one that cannot be deleted is left to
    the next save."""
    with suppress(OSError):
        for shard in shards_of(path):
            if os.path.basename(shard) not in keep:
                os.unlink(shard)
