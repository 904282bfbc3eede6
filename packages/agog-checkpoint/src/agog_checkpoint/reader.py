"""Readers: access to the values of a checkpoint without objects."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from agog_checkpoint import file
from agog_checkpoint.formats import exists, is_of_tensorflow
from agog_checkpoint.graph import DTYPES
from agog_checkpoint.name_list import name_list
from agog_checkpoint.pointer import latest_checkpoint
from agog_core.dtypes import DType
from agog_core.errors import NotFoundError
from agog_core.files import file_path, is_folder

Array = np.ndarray[Any, Any]


class Tensors(Protocol):
    """The tensors in a checkpoint of agog or TensorFlow, by their sorted keys."""

    def __iter__(self) -> Iterator[str]: ...

    def __contains__(self, key: object, /) -> bool: ...

    def __getitem__(self, key: str, /) -> Array:
        """A new array."""

    def shape(self, key: str, /) -> tuple[int, ...]:
        """The shape of a tensor."""

    def dtype(self, key: str, /) -> DType:
        """The dtype of a tensor."""


class _OwnTensors:
    def __init__(self, path: str) -> None:
        graph, self._arrays = file.read(path)
        self._variables = {variable.key: variable for variable in sorted(graph.variables(), key=lambda v: v.key)}

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __contains__(self, key: object) -> bool:
        return key in self._variables

    def __getitem__(self, key: str) -> Array:
        return self._arrays[key].copy()

    def shape(self, key: str) -> tuple[int, ...]:
        return self._variables[key].shape

    def dtype(self, key: str) -> DType:
        return DTYPES[self._variables[key].dtype]


def _tensors(path: str) -> Tensors:
    if not is_of_tensorflow(path):
        return _OwnTensors(path)
    from agog_checkpoint.tensorflow.named_tensors import NamedTensors

    return NamedTensors(path)


class CheckpointReader:
    """The variables in one checkpoint, by their keys.

    Args:
        filepattern: the result of `Checkpoint.save`, `Saver.save` or another function that saves; or the prefix of the
            files of a checkpoint of TensorFlow, or the folder of its SavedModel.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: the file is damaged; of TensorFlow's, `get_tensor` raises it for each tensor.
        PermissionDeniedError: it may not be read.

    >>> import tempfile
    >>> from agog_checkpoint import Checkpoint
    >>> from agog_core import Variable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     reader = CheckpointReader(Checkpoint(v=Variable([1.0, 2.0])).write(f"{folder}/ckpt"))
    >>> reader.get_variable_to_shape_map(), reader.get_tensor("v")
    ({'v': [2]}, array([1., 2.], dtype=float32))
    """

    def __init__(self, filepattern: str | os.PathLike[str]) -> None:
        self._path = file_path("load_checkpoint", filepattern)
        self._tensors = _tensors(self._path)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes of all variables.

        Returns:
            Keys, in alphabetical order, to shapes.
        """
        return {key: list(self._tensors.shape(key)) for key in self._tensors}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtypes of all variables.

        Returns:
            Keys, in alphabetical order, to dtypes.
        """
        return {key: self._tensors.dtype(key) for key in self._tensors}

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether a variable is in the checkpoint.

        Args:
            tensor_str: its key.

        Returns:
            True or False.
        """
        return tensor_str in self._tensors

    def get_tensor(self, tensor_str: str) -> Array:
        """The value of a variable.

        Args:
            tensor_str: its key.

        Returns:
            A new NumPy array.

        Raises:
            NotFoundError: the checkpoint has no such key.
        """
        if tensor_str not in self._tensors:
            raise NotFoundError(
                f"Key {tensor_str} not found in checkpoint {self._path!r}; its keys are {name_list(self._tensors)}."
            )
        return self._tensors[tensor_str]


def load_checkpoint(ckpt_dir_or_file: str | os.PathLike[str]) -> CheckpointReader:
    """Open a checkpoint to look into it.

    Args:
        ckpt_dir_or_file: a checkpoint's path; or a folder, for its newest checkpoint.

    Returns:
        A reader of its variables.

    Raises:
        ValueError: nothing was saved in the folder.
        NotFoundError: there is no such checkpoint.
        DataLossError: the file is damaged.
        PermissionDeniedError: it may not be read.

    >>> load_checkpoint(".")
    Traceback (most recent call last):
        ...
    ValueError: load_checkpoint: the folder '.' has no checkpoint; pass a folder that something was saved in, ...
    """
    path = file_path("load_checkpoint", ckpt_dir_or_file)
    if is_folder(path) and not is_of_tensorflow(path):
        newest = latest_checkpoint(path)
        if newest is None:
            raise ValueError(
                f"load_checkpoint: the folder {path!r} has no checkpoint; pass a folder that something was saved in, "
                "or the path of a checkpoint."
            )
        path = newest
    return CheckpointReader(path)


def load_variable(ckpt_dir_or_file: str | os.PathLike[str], name: str) -> Array:
    """The value of one variable in a checkpoint.

    Args:
        ckpt_dir_or_file: a checkpoint's path; or a folder, for its newest checkpoint.
        name: the variable's key; ``:0`` at its end is left out.

    Returns:
        A new NumPy array.

    Raises:
        ValueError: nothing was saved in the folder.
        NotFoundError: there is no such checkpoint, or it has no such key.
        DataLossError: the file is damaged.

    >>> import tempfile
    >>> from agog_checkpoint import Checkpoint
    >>> from agog_core import Variable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Checkpoint(v=Variable([1.0, 2.0])).save(f"{folder}/ckpt")
    ...     load_variable(folder, "v")
    array([1., 2.], dtype=float32)
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: str | os.PathLike[str]) -> list[tuple[str, list[int]]]:
    """The variables in a checkpoint.

    Args:
        ckpt_dir_or_file: a checkpoint's path; or a folder, for its newest checkpoint.

    Returns:
        Pairs of key and shape, in alphabetical order.

    Raises:
        ValueError: nothing was saved in the folder.
        NotFoundError: there is no such checkpoint.
        DataLossError: the file is damaged.

    >>> import tempfile
    >>> from agog_checkpoint import Checkpoint
    >>> from agog_core import Variable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Checkpoint(v=Variable([1.0, 2.0])).save(f"{folder}/ckpt")
    ...     list_variables(folder)
    [('save_counter', []), ('v', [2])]
    """
    return list(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def checkpoint_exists(checkpoint_prefix: str | os.PathLike[str]) -> bool:
    """Whether there is a checkpoint.

    Args:
        checkpoint_prefix: its path.

    Returns:
        True or False; its file is not read.

    >>> checkpoint_exists("a-folder-that-does-not-exist/ckpt-1")
    False
    """
    return exists(file_path("checkpoint_exists", checkpoint_prefix))
