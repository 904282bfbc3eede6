"""Assets: vocabularies in files of Keras 3, as texts beside the weights."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import Any

from agog_checkpoint.regular_file import open_regular
from agog_core.errors import DataLossError
from agog_training.saving.keras.files import children_of

__all__ = ["load_vocabularies"]

# How many bytes a vocabulary may have.
_LONGEST = 1 << 28


def load_vocabularies(model: Any, path: str) -> None:
    """Give the lookup layers of a model the vocabularies in an archive, unless they have one already."""
    waiting = [found for found in _lookups(model, "assets") if not found[1].vocabulary]
    if not waiting:
        return
    try:
        with open_regular(path) as stream, zipfile.ZipFile(stream) as archive:
            there = {info.filename: info for info in archive.infolist()}
            found = [(layer, there[name]) for name, layer in waiting if name in there]
            for layer, info in found:
                if info.file_size > _LONGEST:
                    raise ValueError(f"{info.filename} has {info.file_size} bytes")
                lines: list[Any] = archive.read(info).decode().split("\n")
                while lines and not lines[-1]:
                    lines.pop()
                layer.set_vocabulary([layer.term_type(line) for line in lines])
    except Exception as error:  # zipfile raises errors of many kinds on damaged files
        raise DataLossError(f"load_model: {path!r} is not a whole file of Keras: {error}.") from error


def _lookups(part: Any, place: str) -> Iterator[tuple[str, Any]]:
    """The layers with vocabularies inside a part, and the names of their files."""
    for name, child in children_of(part):
        if hasattr(child, "set_vocabulary") and hasattr(child, "term_type"):
            yield f"{place}/{name}/vocabulary.txt", child
        yield from _lookups(child, f"{place}/{name}")
