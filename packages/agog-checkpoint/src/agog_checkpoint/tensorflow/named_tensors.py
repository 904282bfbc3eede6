"""Named tensors: a checkpoint of TensorFlow as a mapping from names to arrays."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping

from agog_checkpoint.tensorflow import open_checkpoint
from agog_checkpoint.tensorflow.checkpoint import Array
from agog_core.dtypes import DType


class NamedTensors(Mapping[str, Array]):
    """The tensors of a checkpoint by name, which are read each time that they are asked for; the files are open as long
    as this is there.

    With ``by_full_names``, variables of a checkpoint of objects go by the names that they had in the program, where no
    two have the same. Raises what `open_checkpoint` raises.
    """

    def __init__(self, path: str, by_full_names: bool = False) -> None:
        self.checkpoint = open_checkpoint(path)
        weakref.finalize(self, self.checkpoint.close)
        named = self.checkpoint.full_names() if by_full_names else {}
        others = dict.fromkeys(self.checkpoint.names())
        for key in named.values():
            others.pop(key, None)
        self._keys = {key: key for key in others} | {name: key for name, key in named.items() if name not in others}

    def __getitem__(self, name: str) -> Array:
        return self.checkpoint.read(self._keys[name])

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self.checkpoint.shape(self._keys[name])

    def dtype(self, name: str) -> DType:
        """The dtype of a tensor."""
        return self.checkpoint.dtype(self._keys[name])
