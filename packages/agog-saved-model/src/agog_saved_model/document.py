"""Document: the file of a saved model: a checkpoint in safetensors, whose metadata hold functions and objects as JSON.

A checkpoint's commit replaces the file, so that a crash leaves the old model or the new one, and its checksums cover
every byte. `agog ckpt show` and ``tf.train.load_checkpoint`` read the variables.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO

import numpy as np

from agog_checkpoint.commit import commit
from agog_checkpoint.file import read_file, write
from agog_checkpoint.graph import Graph, Node, SavedVariable
from agog_checkpoint.objects import Snapshot
from agog_core import Tensor, Variable, convert_to_tensor
from agog_core.errors import DataLossError, UnimplementedError
from agog_core.files import is_file, is_folder, join, make_folders, names_in, open_file, remove
from agog_saved_model.assets import FOLDER, Asset, copies_of

FILE = "saved_model.safetensors"
VERSION = 1
_STATE = "saved_model"


def write_folder(
    folder: str,
    document: dict[str, Any],
    variables: Mapping[str, Variable],
    arrays: Mapping[str, np.ndarray[Any, Any]],
    assets: Sequence[Asset],
) -> None:
    """Write a saved model into a folder; what was there before stays, whole, until the new one takes its place."""
    strings = {name: _texts(array) for name, array in arrays.items() if array.dtype == object}
    tensors = {name: convert_to_tensor(array) for name, array in arrays.items() if array.dtype != object}
    values = {**{name: each._current() for name, each in variables.items()}, **tensors}
    texts = [name for name, value in values.items() if value.dtype.name == "string"]
    if texts:
        raise UnimplementedError(
            f"saved_model.save: the variable {texts[0]!r} holds texts, which no file of agog does."
        )
    copies = copies_of(assets, folder)
    names = [copy.name for copy in copies]
    document = {"version": VERSION, **document, "texts": strings, "assets": [f"{FOLDER}/{name}" for name in names]}
    graph = Graph([Node(dict(zip(values, range(1, len(values) + 1), strict=True)), None, {_STATE: document})], [])
    for name, value in values.items():
        graph.nodes.append(Node({}, SavedVariable(name, value.dtype.name, tuple(value._shape))))
    make_folders(join(folder, FOLDER) if names else folder)
    first = {
        join(FOLDER, copy.name): partial(_copy, asset)
        for copy, asset in zip(copies, assets, strict=True)
        if not copy.is_there
    }
    commit(join(folder, FILE), partial(write, saved=Snapshot(graph, values)), first, placed=partial(join, FOLDER))
    _remove_others(join(folder, FOLDER), names)


def read_folder(folder: str) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]], str]:
    """The document of a saved model, arrays by their names, and the name of the file."""
    file = join(folder, FILE)
    graph, found = read_file(file)
    arrays = dict(found)
    state = graph.nodes[0].state or {}
    document = state.get(_STATE)
    if not isinstance(document, dict):
        raise DataLossError(f"saved_model.load: the file {file!r} is a checkpoint, and no saved model.")
    version = document.get("version")
    if version != VERSION:
        raise UnimplementedError(
            f"saved_model.load: the file {file!r} has the format version {version!r}, and this release reads version "
            f"{VERSION}; another release of agog may read it."
        )
    return document, arrays, file


def _copy(asset: Asset, stream: BinaryIO) -> None:
    with open_file(asset.path, "rb") as source:
        shutil.copyfileobj(source, stream)


def _remove_others(folder: str, names: Sequence[str]) -> None:
    """Remove the assets of what was replaced."""
    for name in names_in(folder) if is_folder(folder) else ():
        if name not in names and is_file(join(folder, name)):
            remove(join(folder, name))


def _texts(array: np.ndarray[Any, Any]) -> list[Any]:
    """Texts as JSON: the shape, and the bytes in hexadecimal digits."""
    each = [text if isinstance(text, bytes) else str(text).encode() for text in array.reshape(-1).tolist()]
    return [list(array.shape), [text.hex() for text in each]]


def texts(content: Any) -> np.ndarray[Any, Any]:
    """The array of texts that a document has."""
    shape, each = content
    array = np.empty(len(each), object)
    array[:] = [bytes.fromhex(text) for text in each]
    return array.reshape(tuple(shape))


def tensor_of(array: np.ndarray[Any, Any]) -> Tensor:
    """A tensor of an array of the file, which nobody writes."""
    return convert_to_tensor(np.array(array))
