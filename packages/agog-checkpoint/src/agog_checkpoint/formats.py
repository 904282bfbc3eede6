"""Formats: the checkpoints of agog, and those of TensorFlow, whose part is imported where there is no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from agog_checkpoint import file
from agog_checkpoint.graph import Graph
from agog_core.checkpointable import Checkpointable
from agog_core.files import modified

Array = np.ndarray[Any, Any]
# Gives a graph the names that the parts of a program have.
Fit = Callable[[Graph, Checkpointable], Graph]


def exists(path: str) -> bool:
    """Whether there is a checkpoint of either at a path; nothing of its tensors is read."""
    return file.exists(path) or is_of_tensorflow(path)


def is_of_tensorflow(path: str) -> bool:
    """Whether the checkpoint at a path is one of TensorFlow; where both have one, that of agog counts."""
    if file.exists(path):
        return False
    from agog_checkpoint.tensorflow import is_tensorflow_checkpoint

    return is_tensorflow_checkpoint(path)


def of_tensorflow_in(folder: str) -> list[str]:
    """The paths of TensorFlow's checkpoints in a folder, by name. Raises OSError if it cannot be read."""
    from agog_checkpoint.tensorflow.location import prefixes_in

    return [path for path in prefixes_in(folder) if is_of_tensorflow(path)]


def time_of(path: str) -> float | None:
    """When the checkpoint at a path was written, in seconds since 1970; None if there is none."""
    main = file.main_file(path)
    if main is None and is_of_tensorflow(path):
        from agog_checkpoint.tensorflow.location import files_of

        main = files_of(path)[0]
    return None if main is None else modified(main)


def read(path: str) -> tuple[Graph, Mapping[str, Array], Fit | None]:
    """Read a checkpoint of either: the graph, the values by key, and what fits a graph of TensorFlow to a program.

    Raises what `file.read` raises.
    """
    if not is_of_tensorflow(path):
        return *file.read(path), None
    from agog_checkpoint.tensorflow.graph import read as read_tensorflow

    contents = read_tensorflow(path)
    return contents.graph, contents.arrays, contents.fitted
