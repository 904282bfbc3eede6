"""Assets: files that functions read, such as vocabularies, which are copied into the folder of a saved model."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from agog_core import Tensor, constant, convert_to_tensor
from agog_core.checkpointable import Checkpointable
from agog_core.errors import NotFoundError
from agog_core.files import exists, file_path, is_file, join, open_file

__all__ = ["Asset"]

FOLDER = "assets"


class Asset(Checkpointable):
    """A file that belongs to a model. In an attribute of what is saved, it is copied, and its path is found again.

    Args:
        path: the file.

    >>> import tempfile
    >>> file = tempfile.NamedTemporaryFile(suffix=".txt")
    >>> Asset(file.name).asset_path.numpy().decode() == file.name
    True
    """

    def __init__(self, path: str | os.PathLike[str] | Tensor) -> None:
        given = path.numpy().decode() if isinstance(path, Tensor) else path
        self.path = file_path("Asset", given)
        self._asset_path = convert_to_tensor(constant(self.path))

    @property
    def asset_path(self) -> Tensor:
        """The path of the file, a scalar of string. A function that uses it gets the new path after loading."""
        return self._asset_path


class Copy(NamedTuple):
    """The copy of an asset: its name, and whether it is there already."""

    name: str
    is_there: bool


def copies_of(assets: Sequence[Asset], folder: str) -> list[Copy]:
    """The copies that a folder needs. A file of another content that is there already keeps its name, since it belongs
    to what the folder holds until the new one is in its place."""
    copies: dict[str, Copy] = {}
    for asset in assets:
        if not is_file(asset.path):
            raise NotFoundError(f"saved_model.save: the asset {asset.path!r} is no file.")
        name, content = os.path.basename(asset.path), _sum(asset.path)
        there = join(folder, FOLDER, name)
        if name in copies or (exists(there) and _sum(there) != content):
            stem, end = os.path.splitext(name)
            name = f"{stem}.{content:08x}{end}"
            there = join(folder, FOLDER, name)
        copies[name] = Copy(name, exists(there))
    return list(copies.values())


def _sum(path: str) -> int:
    found = 0
    with open_file(path, "rb") as file:
        while block := file.read(1 << 20):
            found = zlib.crc32(block, found)
    return found
