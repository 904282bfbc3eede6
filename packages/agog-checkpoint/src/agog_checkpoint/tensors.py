"""Tensors of any safetensors file, such as the weights of models of other frameworks."""

from __future__ import annotations

import os
from typing import Any

from agog_checkpoint import compact_json
from agog_checkpoint.commit import translated
from agog_checkpoint.graph import DTYPES
from agog_checkpoint.regular_file import open_regular
from agog_checkpoint.safetensors_file import Array, array, read
from agog_core.errors import DataLossError, NotFoundError
from agog_core.files import file_path, folder_of, is_file, join

_INDEX = ".index.json"


def load_tensors(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Read all tensors of a safetensors file, whatever program wrote it.

    Nothing but numbers is read, and no checksum is checked, since other programs write none; agog's own checkpoints are
    for `Checkpoint.restore`.

    Args:
        path: the file; or an index of several files, whose name ends with ``.index.json``.

    Returns:
        Names to arrays, read-only views of the file, to rename and turn as a program needs them: for `assign`, or for
        `Checkpoint.restore_tensors`.

    Raises:
        NotFoundError: there is no such file.
        PermissionDeniedError: it may not be read.
        DataLossError: it is truncated, damaged, or no such file.

    >>> import tempfile
    >>> from agog_checkpoint import Checkpoint
    >>> from agog_core import Variable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Checkpoint(v=Variable([1.0, 2.0])).write(f"{folder}/ckpt")
    ...     tensors = load_tensors(f"{path}.safetensors")
    >>> {name: tensor.tolist() for name, tensor in tensors.items()}
    {'v': [1.0, 2.0]}
    """
    file = file_path("load_tensors", path)
    if not is_file(file):
        raise NotFoundError(f"load_tensors: the file {file!r} does not exist.")
    try:
        if not file.endswith(_INDEX):
            return {
                name: array(DTYPES[tensor.dtype], tensor.shape, tensor.data.toreadonly())
                for name, tensor in read(file).tensors.items()
            }
        with open_regular(file) as stream:
            shards = _shards(compact_json.load(stream.read().decode()))
    except OSError as error:
        raise translated(error, "read", file) from error
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError) as error:
        raise DataLossError(f"load_tensors: {file!r} is not a whole safetensors file: {error}.") from error
    return {name: array for shard in shards for name, array in load_tensors(join(folder_of(file), shard)).items()}


def _shards(index: Any) -> list[str]:
    names = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(names, dict) or not all(
        isinstance(name, str) and name == os.path.basename(name) and not name.endswith(_INDEX)
        for name in names.values()
    ):
        raise ValueError("its 'weight_map' should name a file without folders for each tensor")
    return sorted(set(names.values()))
