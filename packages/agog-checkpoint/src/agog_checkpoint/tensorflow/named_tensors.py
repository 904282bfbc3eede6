"""Named tensors: a checkpoint of TensorFlow as a mapping from names to arrays."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping

from agog_checkpoint.tensorflow import open_checkpoint
from agog_checkpoint.tensorflow.checkpoint import Array
from agog_core.dtypes import DType


class NamedTensors(Mapping[str, Array]):
    """The tensors of a checkpoint by name, which are read each time that they are asked for; the files are open as long
    as this is there. Raises what `open_checkpoint` raises."""

    def __init__(self, path: str) -> None:
        self.checkpoint = open_checkpoint(path)
        weakref.finalize(self, self.checkpoint.close)

    def __getitem__(self, name: str) -> Array:
        if name not in self.checkpoint:
            raise KeyError(name)
        return self.checkpoint.read(name)

    def __contains__(self, name: object) -> bool:
        return name in self.checkpoint

    def __iter__(self) -> Iterator[str]:
        return iter(self.checkpoint.names())

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self.checkpoint.shape(name)

    def dtype(self, name: str) -> DType:
        """The dtype of a tensor."""
        return self.checkpoint.dtype(name)

    def __len__(self) -> int:
        return len(self.checkpoint.names())
