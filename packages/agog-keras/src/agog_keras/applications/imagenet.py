"""ImageNet: pixels as the published networks take them, and the names of their classes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from agog_core import Tensor, cast
from agog_keras.layers.numbers import Rescaling
from agog_layers.arguments.checks import choice
from agog_layers.layer.symbolic import Symbolic

__all__ = [
    "decode_predictions",
    "preprocess_input",
    "preprocess_input_by_caffe",
    "preprocess_input_by_tf",
    "preprocess_input_by_torch",
    "preprocess_input_inside",
]

_FORMATS = ("channels_last", "channels_first")
_MODES = ("caffe", "tf", "torch")
# The mean pixel of ImageNet: in the order blue, green, red, up to 255; and in the order red, green, blue, up to 1.
_MEAN_BGR = (103.939, 116.779, 123.68)
_MEAN_RGB, _DEVIATION_RGB = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

_CLASSES = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
_CLASSES_MD5 = "c2c37ea517e94d9795004a39431a14cb"


def preprocess_input(x: Any, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Scale pixels as a published network takes them.

    Args:
        x: one image or a batch, with red, green and blue from 0 to 255: an array, a tensor, or a symbolic value.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.
        mode: ``"caffe"`` for blue, green and red, less ImageNet's mean; ``"tf"`` for -1 to 1; ``"torch"`` for 0 to 1,
            less ImageNet's mean, in units of its standard deviation.

    Returns:
        An array, tensor or symbolic value of the same shape; integers become float32.

    Raises:
        ValueError: the mode or the format is another.

    >>> preprocess_input(np.array([[[255, 0, 0]]]), mode="tf").tolist()
    [[[1.0, -1.0, -1.0]]]
    >>> preprocess_input(np.zeros([1, 1, 3])).round(2).tolist()
    [[[-103.94, -116.78, -123.68]]]
    """
    mode = choice("preprocess_input", "mode", mode, _MODES)
    data_format = choice("preprocess_input", "data_format", data_format, _FORMATS)
    x = _floats(x)
    if mode == "tf":
        return x / 127.5 - 1.0
    trailing = 0 if data_format == "channels_last" else 2

    def by_channel(values: tuple[float, ...]) -> Any:
        return np.asarray(values, _dtype(x)).reshape([3] + [1] * trailing)

    if mode == "torch":
        return (x / 255.0 - by_channel(_MEAN_RGB)) / by_channel(_DEVIATION_RGB)
    return x[(..., slice(None, None, -1), *[slice(None)] * trailing)] - by_channel(_MEAN_BGR)


def preprocess_input_by_caffe(x: Any, data_format: str | None = None) -> Any:
    """Scale pixels in the mode ``"caffe"``; see `imagenet_utils.preprocess_input`."""
    return preprocess_input(x, data_format, "caffe")


def preprocess_input_by_tf(x: Any, data_format: str | None = None) -> Any:
    """Scale pixels in the mode ``"tf"``; see `imagenet_utils.preprocess_input`."""
    return preprocess_input(x, data_format, "tf")


def preprocess_input_by_torch(x: Any, data_format: str | None = None) -> Any:
    """Scale pixels in the mode ``"torch"``; see `imagenet_utils.preprocess_input`."""
    return preprocess_input(x, data_format, "torch")


def preprocess_input_inside(x: Any, data_format: str | None = None) -> Any:
    """Return the pixels as they are: the network scales them itself.

    Args:
        x: images.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``; it changes nothing.

    Returns:
        The same images.

    Raises:
        ValueError: the format is another.
    """
    choice("preprocess_input", "data_format", data_format, _FORMATS)
    return x


def decode_predictions(preds: Any, top: int = 5, class_index: str | os.PathLike[str] | None = None) -> list[Any]:
    """Name the most probable of ImageNet's classes.

    Args:
        preds: probabilities, of shape (images, 1000).
        top: how many classes of each image.
        class_index: a JSON file that has ``[identifier, name]`` by the number of the class; None for Keras's, which is
            downloaded once.

    Returns:
        For each image a list of (identifier, name, probability), the most probable first.

    Raises:
        ValueError: the predictions have another shape.
        UnavailableError: Keras's file cannot be downloaded.
    """
    scores = np.asarray(preds.numpy() if isinstance(preds, Tensor) else preds)
    if scores.ndim != 2 or scores.shape[1] != 1000:
        raise ValueError(
            f"decode_predictions: predictions must have shape (images, 1000); got {scores.shape}. Networks for other "
            "classes have other names."
        )
    if class_index is None:
        from agog_data.datasets.fetching import get_file  # here, because its import takes milliseconds

        class_index = get_file("imagenet_class_index.json", _CLASSES, cache_subdir="models", file_hash=_CLASSES_MD5)
    names = json.loads(Path(class_index).read_text(encoding="utf-8"))
    best = np.argsort(-scores, axis=1, kind="stable")[:, :top]
    return [[(*names[str(k)], row[k]) for k in ks] for row, ks in zip(scores, best, strict=True)]


def _floats(x: Any) -> Any:
    if isinstance(x, Symbolic):
        return x if x.dtype.is_floating else Rescaling(1.0)(x)
    if isinstance(x, Tensor):
        return x if x.dtype.is_floating else cast(x, "float32")
    array = np.asarray(x)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype("float32")


def _dtype(x: Any) -> Any:
    return getattr(x.dtype, "as_numpy_dtype", x.dtype)
