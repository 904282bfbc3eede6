"""TensorFlowCheckpoint: what both formats have in common."""

from __future__ import annotations

import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import numpy as np

from agog_checkpoint.commit import translated
from agog_checkpoint.name_list import name_list
from agog_checkpoint.tensorflow.dtypes import dtype_of
from agog_checkpoint.tensorflow.full_names import full_names
from agog_checkpoint.tensorflow.messages import Slice, TensorInfo
from agog_core.dtypes import DType
from agog_core.errors import DataLossError, NotFoundError, ResourceExhaustedError, UnimplementedError

Array = np.ndarray[Any, Any]
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
# What the pieces of the formats raise where bytes are not what they should be.
DAMAGE = (ValueError, LookupError, OverflowError, struct.error)


class TensorFlowCheckpoint(ABC):
    """The tensors in a checkpoint of TensorFlow, by name, which are read when they are asked for.

    A context manager, which closes the files. Methods raise NotFoundError for a name that is not there,
    UnimplementedError for a dtype that agog lacks, and DataLossError where bytes are not what was written.
    """

    def __init__(self, prefix: str, file: str) -> None:
        self.prefix = prefix
        self._file = file  # which is being read, for errors

    @abstractmethod
    def names(self) -> list[str]:
        """The names of all tensors, sorted."""

    @abstractmethod
    def _info(self, name: str) -> TensorInfo | None: ...

    @abstractmethod
    def _part(self, name: str, part: Slice | None, dtype: DType, shape: tuple[int, ...]) -> Array:
        """The values of a slice, or of a whole tensor."""

    @abstractmethod
    def _most_elements(self, name: str, slices: Sequence[Slice]) -> int:
        """How many elements the files of some slices can hold at most."""

    @abstractmethod
    def close(self) -> None:
        """Close the files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._info(name) is not None

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor; of a partitioned variable that of all parts together."""
        return self._known(name).shape

    def dtype(self, name: str) -> DType:
        """The dtype of a tensor; quantized numbers have that of the integers that they are."""
        info = self._known(name)
        with self._reading(name):
            return dtype_of(info.dtype)

    def read(self, name: str) -> Array:
        """The value of a tensor as an array of its own; texts are bytes objects, and parts of a variable are joined."""
        info = self._known(name)
        with self._reading(name):
            dtype = dtype_of(info.dtype)
            return self._joined(name, info, dtype) if info.slices else self._part(name, None, dtype, info.shape)

    def object_graph(self) -> bytes | None:
        """The object graph that ``tf.train.Checkpoint``, Keras and SavedModels write, as it is in the file."""
        if OBJECT_GRAPH not in self:
            return None
        graph = self.read(OBJECT_GRAPH)
        if graph.dtype != object or graph.size != 1:
            raise self._damaged(OBJECT_GRAPH, f"it should be one text, but is {graph.dtype} {list(graph.shape)}")
        return bytes(graph.reshape(-1)[0])

    def full_names(self) -> dict[str, str]:
        """The names of tensors by the names that the program had for variables; empty without an object graph."""
        graph = self.object_graph()
        if graph is None:
            return {}
        with self._reading(OBJECT_GRAPH):
            return {name: key for name, key in full_names(graph).items() if name and key in self}

    def _joined(self, name: str, info: TensorInfo, dtype: DType) -> Array:
        places = [part.within(info.shape) for part in info.slices]
        shapes = [tuple(each.stop - each.start for each in place) for place in places]
        if sum(map(math.prod, shapes)) != info.size:
            raise ValueError(f"its slices have not the elements of its shape {list(info.shape)}")
        if len(info.slices) == 1:
            return self._part(name, info.slices[0], dtype, info.shape)
        if info.size > self._most_elements(name, info.slices):  # before memory for so many is taken
            raise ValueError(f"its files are too small for the shape {list(info.shape)}")
        whole, is_there = np.empty(info.shape, dtype.numpy_dtype), np.zeros(info.shape, bool)
        for part, place, shape in zip(info.slices, places, shapes, strict=True):
            values = self._part(name, part, dtype, shape)
            if is_there[place].any():
                raise ValueError("its slices overlap")
            whole[place], is_there[place] = values, True
        return whole

    def _known(self, name: str) -> TensorInfo:
        info = self._info(name)
        if info is None:
            raise NotFoundError(
                f"TensorFlow checkpoint: tensor {name!r} is not in {self.prefix!r}; its names are "
                f"{name_list(self.names())}."
            )
        return info

    @contextmanager
    def _reading(self, name: str | None) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise translated(error, "read", self._file) from error
        except UnimplementedError as error:
            raise UnimplementedError(
                f"TensorFlow checkpoint: tensor {name!r} in {self.prefix!r} cannot be read: {error}."
            ) from error
        except MemoryError as error:
            raise ResourceExhaustedError(
                f"TensorFlow checkpoint: there is too little memory for tensor {name!r} in {self.prefix!r}."
            ) from error
        except DAMAGE as error:
            raise self._damaged(name, str(error)) from error

    def _damaged(self, name: str | None, fault: str) -> DataLossError:
        where = "" if name is None else f" in tensor {name!r}"
        return DataLossError(f"TensorFlow checkpoint: the file {self._file!r} is damaged{where}: {fault}.")
