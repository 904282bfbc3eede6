"""Writer: checkpoints of TensorFlow's second format, by names, with one file of data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from agog_checkpoint.commit import commit
from agog_checkpoint.tensorflow import strings
from agog_checkpoint.tensorflow.bundle import HEADER_KEY, data_name
from agog_checkpoint.tensorflow.checksum import masked
from agog_checkpoint.tensorflow.dtypes import NUMBERS, STRING
from agog_checkpoint.tensorflow.location import INDEX_SUFFIX
from agog_checkpoint.tensorflow.messages import Place, encoded_entry
from agog_checkpoint.tensorflow.protobuf import encoded_field
from agog_checkpoint.tensorflow.table_writer import encoded_table

_VERSION = 1
_HEADER = encoded_field(1, 1) + encoded_field(3, encoded_field(1, _VERSION))  # one shard, and who reads the format

Array = np.ndarray[Any, Any]


def write_checkpoint(prefix: str, tensors: Mapping[str, Array]) -> None:
    """Write arrays by names; arrays of objects hold texts as bytes. A crash leaves no half a checkpoint unseen.

    Raises ValueError if a tensor has a name or a dtype that TensorFlow lacks, and OpError if the system failed.
    """
    entries = {HEADER_KEY: _HEADER}
    names = {_key(name): name for name in tensors}

    def write_data(stream: BinaryIO) -> None:
        for key in sorted(names):
            array = tensors[names[key]]
            offset = stream.tell()
            number, checksum = _write_tensor(stream, names[key], array)
            entries[key] = encoded_entry(number, array.shape, Place(0, offset, stream.tell() - offset, checksum))

    def write_index(stream: BinaryIO) -> None:
        stream.write(encoded_table(sorted(entries.items())))

    commit(prefix + INDEX_SUFFIX, write_index, {os.path.basename(data_name(prefix, 0, 1)): write_data})


def _key(name: str) -> bytes:
    key = name.encode()
    if not key or key.startswith(b"\0"):
        raise ValueError(f"TensorFlow checkpoint: a tensor cannot have the name {name!r}.")
    return key


def _write_tensor(stream: BinaryIO, name: str, array: Array) -> tuple[int, int]:
    """Write an array's bytes: the number of its dtype, and their checksum."""
    if array.dtype == object:
        raw, checksum = strings.encoded(array.flat)
        stream.write(raw)
        return STRING, checksum
    if array.dtype.name not in NUMBERS:
        raise ValueError(f"TensorFlow checkpoint: {name!r} has the dtype {array.dtype}, which TensorFlow lacks.")
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    data = little.reshape(-1).view(np.uint8)
    stream.write(data.data)
    return NUMBERS[array.dtype.name], masked(data)
