"""TensorFlow's checkpoints: both formats, read and written without TensorFlow.

Nothing here is imported before a checkpoint of TensorFlow is named. Both formats are tables of LevelDB's form; `bundle`
is the second ("V2"), `slice_files` the first ("V1").
"""

from __future__ import annotations

import os

from agog_checkpoint.tensorflow.checkpoint import TensorFlowCheckpoint
from agog_checkpoint.tensorflow.location import is_saved_model, locate
from agog_core.errors import NotFoundError
from agog_core.files import file_path

__all__ = ["TensorFlowCheckpoint", "is_tensorflow_checkpoint", "open_checkpoint"]


def is_tensorflow_checkpoint(prefix: str | os.PathLike[str]) -> bool:
    """Whether a path is the prefix of a checkpoint of TensorFlow, or the folder of a SavedModel with variables."""
    return locate(file_path("is_tensorflow_checkpoint", prefix)) is not None


def open_checkpoint(prefix: str | os.PathLike[str]) -> TensorFlowCheckpoint:
    """Open a checkpoint of TensorFlow of either format; see `is_tensorflow_checkpoint`.

    Raises NotFoundError if there is none, DataLossError if its index is damaged, UnimplementedError if its numbers are
    big-endian, and ImportError if google-crc32c is not installed.
    """
    path = file_path("open_checkpoint", prefix)
    location = locate(path)
    if location is None:
        hint = ": the SavedModel has no variables" if is_saved_model(path) else f": {path + '.index'!r} does not exist"
        raise NotFoundError(f"TensorFlow checkpoint: there is no checkpoint {path!r}{hint}.")
    if location.files:
        from agog_checkpoint.tensorflow.slice_files import SliceFiles

        return SliceFiles(path, location.files)
    from agog_checkpoint.tensorflow.bundle import Bundle

    return Bundle(location.prefix)
