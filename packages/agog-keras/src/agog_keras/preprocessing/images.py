"""Images: their files as arrays, and arrays as pictures."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from agog_layers.arguments.checks import choice

__all__ = ["array_to_img", "img_to_array", "load_img", "save_img"]

Array = np.ndarray[Any, Any]
# Where the channels of arrays are.
FORMATS = ("channels_first", "channels_last")
# The ends of their names, and the channels of each color mode.
SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
CHANNELS = {"grayscale": 1, "rgb": 3, "rgba": 4}
_MODES = {"rgb": "RGB", "rgba": "RGBA", "grayscale": "L"}


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("Pillow reads and makes pictures, and is not installed: pip install pillow.") from None
    return Image


def load_img(
    path: str | os.PathLike[str],
    color_mode: str | bool = "rgb",
    target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
    grayscale: bool = False,
) -> Any:
    """Read a picture from a file.

    Args:
        path: the file.
        color_mode: ``"rgb"``, ``"rgba"`` or ``"grayscale"``.
        target_size: its height and width; None for those of the file.
        interpolation: how another size is made: ``"nearest"``, ``"bilinear"`` or ``"bicubic"``.
        grayscale: the older name of ``color_mode="grayscale"``.

    Returns:
        A picture of Pillow.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: the mode or the interpolation is unknown.
    """
    if grayscale or color_mode is True:  # it was the second argument
        color_mode = "grayscale"
    methods = {"nearest": 0, "bilinear": 2, "bicubic": 3}
    if color_mode not in _MODES or interpolation not in methods:
        raise ValueError(
            f"load_img: color_mode must be one of {', '.join(_MODES)}, and interpolation one of {', '.join(methods)}; "
            f"got {color_mode!r} and {interpolation!r}."
        )
    picture = _pillow().open(path).convert(_MODES[color_mode])
    return picture if target_size is None else picture.resize(target_size[::-1], methods[interpolation])


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = "float32") -> Array:
    """Make an array of a picture.

    Args:
        img: a picture of Pillow, or an array of shape (height, width) or (height, width, channels).
        data_format: ``"channels_last"``, or ``"channels_first"`` for an array of shape (channels, height, width); None
            for the last.
        dtype: the dtype.

    Returns:
        An array of shape (height, width, channels).

    Raises:
        ValueError: there is no such format.

    >>> img_to_array(np.zeros((2, 3), "u1")).shape
    (2, 3, 1)
    """
    choice("img_to_array", "data_format", data_format or FORMATS[1], FORMATS)
    array = np.asarray(img).astype(dtype)
    array = array[..., np.newaxis] if array.ndim == 2 else array
    return np.moveaxis(array, -1, 0) if data_format == "channels_first" else array


def array_to_img(x: Any, data_format: str | None = None, scale: bool = True) -> Any:
    """Make a picture of an array.

    Args:
        x: an array or tensor of shape (height, width, channels), with 1, 3 or 4 channels.
        data_format: see `img_to_array`.
        scale: whether the least value becomes 0, and the largest 255.

    Returns:
        A picture of Pillow.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: the shape is another, or there is no such format.
    """
    choice("array_to_img", "data_format", data_format or FORMATS[1], FORMATS)
    array = np.asarray(x).astype("float32")
    if array.ndim != 3:
        raise ValueError(f"array_to_img: x must be of shape (height, width, channels); got {array.shape}.")
    array = np.moveaxis(array, 0, -1) if data_format == "channels_first" else array
    if array.shape[-1] not in (1, 3, 4):
        raise ValueError(f"array_to_img: x must have 1, 3 or 4 channels; got {array.shape[-1]}.")
    if scale:
        array = array - array.min()
        array = array * (255.0 / array.max()) if array.max() else array
    return _pillow().fromarray((array[..., 0] if array.shape[-1] == 1 else array).astype("uint8"))


def save_img(
    path: str | os.PathLike[str],
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Write an array to a file as a picture.

    Args:
        path: the file.
        x: see `array_to_img`.
        data_format: see `img_to_array`.
        file_format: the file's format, such as ``"png"``; None for that of the file's name.
        scale: see `array_to_img`.
        **kwargs: further arguments of Pillow's ``save``.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: the shape is another, there is no such format, or a JPEG file is to have four channels.
    """
    picture = array_to_img(x, data_format, scale)
    kind = (file_format or os.path.splitext(path)[1].removeprefix(".")).lower()
    if picture.mode == "RGBA" and kind in ("jpg", "jpeg"):
        raise ValueError("save_img: JPEG files have 1 or 3 channels; got 4. Leave the last one out: x[..., :3].")
    picture.save(path, format="jpeg" if kind == "jpg" else file_format, **kwargs)
