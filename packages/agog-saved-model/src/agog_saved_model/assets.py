"""Assets: files that functions read, such as vocabularies, which are copied into the folder of a saved model."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence

from agog_core import Tensor, constant, convert_to_tensor
from agog_core.checkpointable import Checkpointable
from agog_core.errors import NotFoundError
from agog_core.host_files import local_path

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
        self._path = local_path("Asset", given)
        self._asset_path = convert_to_tensor(constant(self._path))

    @property
    def asset_path(self) -> Tensor:
        """The path of the file, a scalar of string. A function that uses it gets the new path after loading."""
        return self._asset_path


def names_of(assets: Sequence[Asset], folder: str) -> list[str]:
    """Names of the copies. A file of another content that is there already keeps its name, since it belongs to what the
    folder holds until the new one is in its place."""
    names: list[str] = []
    for asset in assets:
        if not os.path.isfile(asset._path):
            raise NotFoundError(f"saved_model.save: the asset {asset._path!r} is no file.")
        name, content = os.path.basename(asset._path), _sum(asset._path)
        there = os.path.join(folder, FOLDER, name)
        if name in names or (os.path.exists(there) and _sum(there) != content):
            stem, end = os.path.splitext(name)
            name = f"{stem}.{content:08x}{end}"
        names.append(name)
    return names


def _sum(path: str) -> int:
    found = 0
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            found = zlib.crc32(block, found)
    return found
