"""Slice files: the first format ("V1") of TensorFlow's checkpoints, of one file, or of several with a part each.

A file is a table. Its first key has a ``SavedTensorSliceMeta``, all others a slice as a ``TensorProto``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack

from agog_checkpoint.regular_file import open_regular
from agog_checkpoint.tensorflow.checkpoint import Array, TensorFlowCheckpoint
from agog_checkpoint.tensorflow.messages import Slice, TensorInfo, parse_shape, parse_slice
from agog_checkpoint.tensorflow.ordered_code import slice_key
from agog_checkpoint.tensorflow.protobuf import Message
from agog_checkpoint.tensorflow.table import Table
from agog_checkpoint.tensorflow.tensor_proto import values_of
from agog_core.dtypes import DType
from agog_core.files import status

_META_KEY = b""
_LARGEST_EXPANSION = 64  # of compressed blocks: three bytes may stand for so many


class SliceFiles(TensorFlowCheckpoint):
    """See `TensorFlowCheckpoint`."""

    def __init__(self, prefix: str, files: Sequence[str]) -> None:
        super().__init__(prefix, files[0])
        self._exit = ExitStack()
        self._files = files
        self._infos: dict[str, TensorInfo] = {}
        self._tables: dict[tuple[str, Slice], tuple[str, Table]] = {}
        try:
            for self._file in files:
                with self._reading(None):
                    self._add(self._file)
        except BaseException:
            self.close()
            raise

    def _add(self, file: str) -> None:
        table = Table(self._exit.enter_context(open_regular(file)))
        meta = table.get(_META_KEY)
        if meta is None:
            raise ValueError("it has no list of its tensors")
        for content in Message(Message(meta).content(1)).contents(1):
            tensor = Message(content)
            name, slices = tensor.text(1), tuple(map(parse_slice, tensor.contents(4)))
            info = TensorInfo(tensor.number(3), parse_shape(tensor.content(2)), slices)
            known = self._infos.setdefault(name, info)
            if known is not info:
                if known[:2] != info[:2]:
                    raise ValueError(f"tensor {name!r} has another dtype or shape than in the file before")
                self._infos[name] = known._replace(slices=known.slices + slices)
            self._tables.update({(name, part): (file, table) for part in slices})

    def names(self) -> list[str]:
        """See `TensorFlowCheckpoint.names`."""
        return sorted(self._infos)

    def close(self) -> None:
        """See `TensorFlowCheckpoint.close`."""
        self._exit.close()

    def _info(self, name: str) -> TensorInfo | None:
        return self._infos.get(name)

    def _part(self, name: str, part: Slice | None, dtype: DType, shape: tuple[int, ...]) -> Array:
        if part is None:
            raise ValueError("none of its slices is there")
        tensor = self._tensor(name, part)
        if tensor.number(1) not in (0, self._infos[name].dtype):
            raise ValueError("a slice has another dtype than the tensor")
        return values_of(tensor, dtype, math.prod(shape)).reshape(shape)

    def _most_elements(self, name: str, slices: Sequence[Slice]) -> int:
        return _LARGEST_EXPANSION * sum(status(file).size for file in self._files)

    def _tensor(self, name: str, part: Slice) -> Message:
        self._file, table = self._tables[name, part]
        content = table.get(slice_key(name, part.extents))
        if content is None:
            raise ValueError(f"its slice {part} is missing")
        return Message(Message(Message(content).content(2)).content(3))
