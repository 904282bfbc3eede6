"""Decoding images: ``tf.image.decode_image``, ``decode_jpeg``, ``decode_png``, ``decode_gif`` and ``decode_bmp``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core.calls.docstrings import documented_like
from agog_core.dtypes import as_dtype, bool_, int32, int64, string, uint8, uint16
from agog_core.errors import InvalidArgumentError
from agog_core.ops.image.intensity import convert_image_dtype
from agog_core.tensors.convert import at_each_run, computed, convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike
from agog_data.images import formats


def decode_image(
    contents: TensorLike, channels: int | None = None, dtype: Any = uint8, name: str | None = None
) -> Tensor:
    """Decode a JPEG, PNG, GIF or BMP file, whichever it is.

    Args:
        contents: the file's bytes, a scalar string.
        channels: 1 for gray, 3 for RGB, 4 for RGBA; None or 0 for those of the file. GIF has 3, BMP those of the file,
            and JPEG 1 or 3.
        dtype: the dtype to convert to, as by `tf.image.convert_image_dtype`. PNG keeps 16 bits unless it is uint8.

    Returns:
        A tensor of shape (height, width, channels); for GIF (frames, height, width, 3).

    Raises:
        ValueError: ``channels`` is something else.
        InvalidArgumentError: the bytes are no such file or not whole, the channels do not fit the format, or there are
            more pixels than allowed.

    >>> from agog_data.images import encode_png
    >>> decode_image(encode_png(np.full([1, 2, 3], 255, np.uint8)), channels=1).numpy().tolist()
    [[[255], [255]]]
    """
    if channels not in (None, 0, 1, 3, 4):
        raise ValueError(f"decode_image: channels must be None, 0, 1, 3 or 4; got {channels!r}.")
    wanted, count = as_dtype(dtype), channels or 0

    def decoded(data: bytes) -> Any:
        format = formats.format_of("decode_image", data, tuple(formats.MAGIC))
        if format == "GIF":
            formats.check_channels("decode_image", format, count, (0, 3))
            return formats.frames("decode_image", data)
        if format == "BMP":
            return formats.bmp("decode_image", data, count)
        if format == "PNG":
            return formats.png("decode_image", data, count, 8 if wanted is uint8 else 16)
        return formats.jpeg("decode_image", data, count)

    return convert_image_dtype(_of_file("decode_image", contents, decoded), wanted)


def _of_file(op: str, contents: TensorLike, decoded: Callable[[bytes], Any]) -> Tensor:
    """The decoded image of a file's bytes; in a traced function, at each run."""
    return at_each_run(lambda given: formats.as_tensor(decoded(formats.file_bytes(op, given))), contents)


def decode_png(contents: TensorLike, channels: int = 0, dtype: Any = uint8, name: str | None = None) -> Tensor:
    """Decode a PNG file; a JPEG file, or a GIF file of one frame, is decoded too.

    Args:
        contents: the file's bytes, a scalar string.
        channels: 1 for gray, 3 for RGB, 4 for RGBA; 0 for those of the file, which may also be 2, gray and alpha.
        dtype: uint8, or uint16 for PNG.

    Returns:
        A tensor of shape (height, width, channels).

    Raises:
        InvalidArgumentError: the bytes are no such file or not whole, an argument has another value, or there are more
            pixels than allowed.

    >>> from agog_data.images import encode_png
    >>> print(decode_png(encode_png(np.array([[[1, 2, 3]]], np.uint8))))
    tf.Tensor([[[1 2 3]]], shape=(1, 1, 3), dtype=uint8)
    """
    wanted = as_dtype(dtype)
    if wanted not in (uint8, uint16):
        raise InvalidArgumentError(f"decode_png: dtype must be uint8 or uint16; got {wanted.name}.")
    bits = 8 if wanted is uint8 else 16
    return _of_file("decode_png", contents, lambda data: formats.decode("decode_png", data, channels, bits=bits))


@documented_like(decode_png)
def decode_jpeg(
    contents: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """Decode a JPEG file; a PNG file, or a GIF file of one frame, is decoded too.

    The transform is always the accurate one, as with TensorFlow's ``dct_method="INTEGER_ACCURATE"``, and colors are
    always upscaled smoothly.

    Args:
        channels: 1 for gray, 3 for RGB; 0 for those of the file.
        ratio: 1, 2, 4 or 8, the factor of a fast reduction of a JPEG image during decoding.
        try_recover_truncated: whether a truncated file gives an image, with gray for missing pixels.

    Returns:
        A uint8 tensor of shape (height, width, channels).

    >>> from agog_data.images import encode_jpeg
    >>> decode_jpeg(encode_jpeg(np.zeros([9, 6, 3], np.uint8)), channels=1, ratio=2).shape
    TensorShape([5, 3, 1])
    """
    if ratio not in (1, 2, 4, 8):
        raise InvalidArgumentError(f"decode_jpeg: ratio must be 1, 2, 4 or 8; got {ratio!r}.")
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise InvalidArgumentError(
            f"decode_jpeg: dct_method must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE'; got {dct_method!r}."
        )
    if not fancy_upscaling or acceptable_fraction != 1.0:
        warnings.warn(
            "decode_jpeg: fancy_upscaling and acceptable_fraction have no effect: colors are always upscaled smoothly, "
            "and of a file that ends too early try_recover_truncated=True takes whatever is there.",
            UserWarning,
            stacklevel=2,
        )
    recover = bool(try_recover_truncated)
    return _of_file(
        "decode_jpeg",
        contents,
        lambda data: formats.decode("decode_jpeg", data, channels, ratio=ratio, recover=recover),
    )


def decode_and_crop_jpeg(
    contents: TensorLike,
    crop_window: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """Decode a part of a JPEG file.

    Args:
        contents: the file's bytes, a scalar string.
        crop_window: the window's top, left, height and width in the image that `decode_jpeg` would give.

    Other arguments: see `decode_jpeg`.

    Returns:
        A uint8 tensor of shape (height of the window, width of the window, channels).

    Raises:
        InvalidArgumentError: `decode_jpeg` would raise it, or the window is not within the image.
    """
    window = host_value(crop_window)
    if window.shape != (4,):
        raise InvalidArgumentError(
            f"decode_and_crop_jpeg: a crop_window of shape (4,) is expected; it has shape {window.shape}."
        )
    image = decode_jpeg(
        contents, channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method
    )
    top, left, height, width = map(int, window.tolist())
    rows, columns = image._shape[:2]
    if min(top, left) < 0 or min(height, width) < 1 or top + height > rows or left + width > columns:
        raise InvalidArgumentError(
            f"decode_and_crop_jpeg: the window with top {top}, left {left}, height {height} and width {width} is not "
            f"within the image of {rows} by {columns}."
        )
    return image[top : top + height, left : left + width]


def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """Decode all frames of a GIF file; a JPEG or PNG file is one frame.

    Args:
        contents: the file's bytes, a scalar string.

    Returns:
        A uint8 tensor of shape (frames, height, width, 3).

    Raises:
        InvalidArgumentError: the bytes are no such file or not whole, or there are more pixels than allowed.
    """

    def decoded(data: bytes) -> Any:
        if formats.format_of("decode_gif", data, ("JPEG", "PNG", "GIF")) == "GIF":
            return formats.frames("decode_gif", data)
        return formats.decode("decode_gif", data, 3)[np.newaxis]

    return _of_file("decode_gif", contents, decoded)


@documented_like(decode_jpeg)
def decode_bmp(contents: TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """Decode a BMP file.

    Args:
        channels: how many channels the file must have; 0 for any.

    Raises:
        InvalidArgumentError: the bytes are no such file or not whole, it has other channels, or there are more pixels
            than allowed.
    """

    def decoded(data: bytes) -> Any:
        formats.format_of("decode_bmp", data, ("BMP",))
        formats.check_channels("decode_bmp", "BMP", channels, (0, 1, 3, 4))
        return formats.bmp("decode_bmp", data, channels)

    return _of_file("decode_bmp", contents, decoded)


def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Whether bytes begin as JPEG files do.

    Args:
        contents: strings of any shape.

    Returns:
        A boolean tensor of the same shape.

    >>> is_jpeg([b"GIF89a", b"\\xff\\xd8\\xff\\xe0"]).numpy().tolist()
    [False, True]
    """
    given = convert_to_tensor(contents, string)

    def are(host: Any) -> list[Any]:
        found = [item.startswith(formats.MAGIC["JPEG"]) for item in np.asarray(host, object).reshape(-1).tolist()]
        return [np.array(found, bool).reshape(host.shape)]

    return computed(are, [given], [bool_])[0]


def extract_jpeg_shape(contents: TensorLike, output_type: Any = int32, name: str | None = None) -> Tensor:
    """Read the shape of a JPEG image from the header of its file.

    Args:
        contents: the file's bytes, a scalar string.
        output_type: int32 or int64.

    Returns:
        A tensor of three numbers: height, width, channels.

    Raises:
        InvalidArgumentError: the bytes are no JPEG file, or ``output_type`` is something else.
    """
    wanted = as_dtype(output_type)
    if wanted not in (int32, int64):
        raise InvalidArgumentError(f"extract_jpeg_shape: output_type must be int32 or int64; got {wanted.name}.")
    data = formats.file_bytes("extract_jpeg_shape", contents)
    image = formats.open_image("extract_jpeg_shape", data, formats.format_of("extract_jpeg_shape", data, ("JPEG",)))
    shape = (image.height, image.width, len(image.getbands()))
    return convert_to_tensor(np.array(shape, wanted.numpy_dtype))
