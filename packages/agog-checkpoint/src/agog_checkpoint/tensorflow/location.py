"""Location: the files of TensorFlow's checkpoints, by the paths that programs pass."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from agog_checkpoint.tensorflow.table_end import ends_as_table
from agog_core.files import folder_of, is_file, is_folder, join, names_in

INDEX_SUFFIX = ".index"
_SAVED_MODELS = ("saved_model.pb", "saved_model.pbtxt")
# What Saver.save of the first format returns for files of several devices.
_OF_DEVICES = re.compile(r"(.*)-\?{5}-of-([0-9]{5})", re.DOTALL)
_PART = re.compile(r"(.*)-[0-9]{5}-of-([0-9]{5})", re.DOTALL)


class Location(NamedTuple):
    """Where a checkpoint is: the prefix of the files' names; and for the first format the files."""

    prefix: str
    files: tuple[str, ...] = ()


def locate(path: str) -> Location | None:
    """The checkpoint of TensorFlow that a path names: by its prefix, or the folder of a SavedModel. None if there is
    none."""
    if is_saved_model(path):
        path = join(path, "variables", "variables")
    if is_file(path + INDEX_SUFFIX):
        return Location(path)
    files = _files_of_devices(path) or [path]
    return Location(path, tuple(files)) if all(map(ends_as_table, files)) else None


def is_saved_model(path: str) -> bool:
    """Whether a path is the folder of a SavedModel."""
    return any(is_file(join(path, name)) for name in _SAVED_MODELS)


def _files_of_devices(path: str) -> list[str]:
    found = _OF_DEVICES.fullmatch(path)
    return [] if found is None else [f"{found[1]}-{number:05d}-of-{found[2]}" for number in range(int(found[2]))]


def files_of(path: str) -> list[str]:
    """The files, with their folder, that the checkpoint at a path consists of, the first of them the index where there
    is one; none if there is no checkpoint."""
    location = locate(path)
    if location is None or location.files:
        return list(location.files) if location is not None else []
    folder, stem = folder_of(location.prefix), os.path.basename(location.prefix)
    data = re.compile(re.escape(stem) + r"\.data-[0-9]{5}-of-[0-9]{5}")
    names = sorted(filter(data.fullmatch, names_in(folder or ".")))
    return [location.prefix + INDEX_SUFFIX, *(join(folder, name) for name in names)]


def prefixes_in(folder: str) -> list[str]:
    """The prefixes, with the folder, of files that may be of checkpoints, by name. Raises OSError if the folder cannot
    be read."""
    found = set()
    for name in names_in(folder):
        path = join(folder, name)
        if name.endswith(INDEX_SUFFIX):
            found.add(path.removesuffix(INDEX_SUFFIX))
        elif part := _PART.fullmatch(path):
            found.add(f"{part[1]}-?????-of-{part[2]}")
        else:
            found.add(path)
    return sorted(path for path in found if not is_folder(path))
