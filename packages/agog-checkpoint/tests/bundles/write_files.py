"""Write the files of this folder with TensorFlow 2: ``python write_files.py files`` with tensorflow-cpu installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensors import FIRST, PARTS, SECOND

v1 = tf.compat.v1


@contextmanager
def session() -> Iterator[Any]:
    """A session with two devices for its variables."""
    with tf.Graph().as_default(), v1.Session(config=v1.ConfigProto(device_count={"CPU": 2})) as opened:
        yield opened


def write_tensors(path: str, tensors: dict[str, np.ndarray[Any, Any]], version: int, sharded: bool) -> None:
    """All dtypes, and variables in parts; sharded by two devices."""
    with session() as opened:
        variables: list[Any] = []
        for number, (name, value) in enumerate(tensors.items()):
            with tf.device(f"/cpu:{number % 2}"):
                variables.append(v1.Variable(value.tolist() if value.dtype == object else value, name=name))
        for axis, (name, value) in enumerate(PARTS.items()):
            parts = v1.fixed_size_partitioner(2 + axis, axis=axis)
            variables.append(
                v1.get_variable(
                    name,
                    value.shape,
                    initializer=lambda shape, dtype, partition_info, value=value: tf.slice(
                        value, partition_info.var_offset, shape
                    ),
                    partitioner=parts,
                )
            )
        opened.run(v1.global_variables_initializer())
        v1.train.Saver(variables, sharded=sharded, write_version=version).save(opened, path, write_meta_graph=False)


def main(folder: Path) -> None:
    """Write all files."""
    folder.mkdir(exist_ok=True)
    for version, tensors in ((1, FIRST), (2, SECOND)):
        for sharded in (False, True):
            write_tensors(str(folder / f"v{version}{'_sharded' * sharded}.ckpt"), tensors, version, sharded)
    (folder / "checkpoint").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
