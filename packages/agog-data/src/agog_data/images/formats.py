"""Formats of image files: from bytes to pixels, by Pillow."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np

from agog_core import Tensor, TensorLike, as_dtype, string
from agog_core.dispatch.devices.lookup import current_device
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.convert import convert_to_tensor, from_host
from agog_data.extras import missing
from agog_data.images import deep_png

Array = np.ndarray[Any, Any]

MAGIC = {"JPEG": b"\xff\xd8\xff", "PNG": b"\x89PNG\r\n\x1a\n", "GIF": b"GIF8", "BMP": b"BM"}
_END_OF_PNG = b"IEND\xaeB`\x82"
_END_OF_JPEG = b"\xff\xd9"
# The weights of red, green and blue in luma (ITU-R BT.601), in 1/32768: what libpng computes with.
_LUMA = np.array([9798, 19235, 3735], np.uint32)


def pillow(op: str) -> Any:
    """Pillow's module `PIL.Image`."""
    try:
        from PIL import Image  # here, because most programs decode no images, and not all have Pillow
    except ImportError as error:
        missing(f"tf.image.{op}", "pillow", "images", error)
    return Image


def file_bytes(op: str, contents: TensorLike) -> bytes:
    """The bytes that a scalar string holds."""
    given = convert_to_tensor(contents, string)
    if given._shape:
        raise InvalidArgumentError(f"{op}: contents must be a scalar string; it has shape {given._shape}.")
    found: bytes = given.numpy()
    return found


def as_tensor(array: Array) -> Tensor:
    """A tensor of pixels, on the current device."""
    return from_host(np.ascontiguousarray(array), current_device().table(as_dtype(array.dtype)))


def format_of(op: str, data: bytes, formats: tuple[str, ...]) -> str:
    """Which of some formats a file has, by its first bytes."""
    for format in formats:
        if data.startswith(MAGIC[format]):
            return format
    raise InvalidArgumentError(
        f"{op}: the bytes of a {' or '.join(formats)} file are expected; these {len(data)} bytes begin with "
        f"{data[:8]!r}."
    )


def check_channels(op: str, format: str, channels: int, allowed: tuple[int, ...]) -> None:
    """Check that a format can be decoded to some channels."""
    if channels not in allowed:
        raise InvalidArgumentError(f"{op}: channels must be one of {allowed} for {format}; got {channels!r}.")


def decode(op: str, data: bytes, channels: int, bits: int = 8, ratio: int = 1, recover: bool = False) -> Array:
    """The common part of the decoders of one image; as in TensorFlow, each decodes the others' files."""
    format = format_of(op, data, ("JPEG", "PNG", "GIF"))
    if format == "PNG":
        check_channels(op, format, channels, (0, 1, 3, 4))
        return png(op, data, channels, bits)
    if bits == 16:
        raise InvalidArgumentError(f"{op}: {format} has 8 bits for a channel; dtype must be uint8, not uint16.")
    if format == "JPEG":
        return jpeg(op, data, channels, ratio, recover)
    check_channels(op, format, channels, (0, 3))
    found = frames(op, data)
    if len(found) > 1:
        raise InvalidArgumentError(
            f"{op}: the GIF file has {len(found)} frames; tf.image.decode_gif and tf.image.decode_image decode them."
        )
    first: Array = found[0]
    return first


def open_image(op: str, data: bytes, format: str) -> Any:
    """Read a file's header, and refuse what has too many pixels."""
    library = pillow(op)
    try:
        image = library.open(io.BytesIO(data), formats=[format])
    except (library.DecompressionBombError, library.DecompressionBombWarning) as error:
        raise InvalidArgumentError(f"{op}: {error}") from error
    except Exception as error:  # whatever Pillow's parsers raise for bytes that they do not understand
        raise _broken(op, data, format, error) from error
    _check_size(op, format, [image.size])
    return image


def _check_size(op: str, format: str, sizes: Iterable[tuple[int, int]]) -> None:
    limit, pixels = pillow(op).MAX_IMAGE_PIXELS, sum(width * height for width, height in sizes)
    if limit is not None and pixels > limit:
        raise InvalidArgumentError(
            f"{op}: the {format} file has {pixels} pixels; more than {limit} are refused. "
            "If you trust it, set PIL.Image.MAX_IMAGE_PIXELS."
        )


def _broken(op: str, data: bytes, format: str, error: Exception) -> InvalidArgumentError:
    # What is not recognised is shown by the address of its buffer, which says nothing.
    reason = "its header is broken" if type(error).__name__ == "UnidentifiedImageError" else error
    return InvalidArgumentError(f"{op}: the {format} file of {len(data)} bytes cannot be decoded: {reason}.")


def _load(op: str, data: bytes, image: Any, mode: str | None = None) -> Array:
    """The pixels, of shape (height, width, channels)."""
    format = image.format or "JPEG"  # a copy has none
    try:
        pixels = np.asarray(image if mode in (None, image.mode) else image.convert(mode))
    except Exception as error:
        raise _broken(op, data, format, error) from error
    return pixels if pixels.ndim == 3 else pixels[..., np.newaxis]


def jpeg(op: str, data: bytes, channels: int, ratio: int = 1, recover: bool = False) -> Array:
    """The pixels of a JPEG file."""
    check_channels(op, "JPEG", channels, (0, 1, 3))
    # A file that ends with its end marker is decoded as far as it goes.
    image = open_image(op, data + _END_OF_JPEG if recover else data, "JPEG")
    mode = "L" if channels == 1 or (not channels and len(image.getbands()) == 1) else "RGB"
    width, height = image.size
    drafted = image.draft(mode, (max(width // ratio, 1), max(height // ratio, 1)))
    # Of an image with fewer pixels than that, the decoder makes no less than one; the mean does the rest.
    left = ratio if drafted is None else round(ratio * drafted[1][2] / width)
    try:
        image = image.reduce(left) if left > 1 else image
    except Exception as error:
        raise _broken(op, data, "JPEG", error) from error
    return _load(op, data, image, mode)


def bmp(op: str, data: bytes, channels: int) -> Array:
    """The pixels of a BMP file."""
    image = open_image(op, data, "BMP")
    bits, compression = struct.unpack_from("<HI", data, 28)
    if bits == 32 and not compression:
        pixels = _bmp_with_alpha(op, data, image.size)
    else:
        pixels = _load(op, data, image, {"1": "L", "L": "L", "RGBA": "RGBA"}.get(image.mode, "RGB"))
    if channels not in (0, pixels.shape[2]):
        raise InvalidArgumentError(f"{op}: the BMP file has {pixels.shape[2]} channels, but channels is {channels}.")
    return pixels


def _bmp_with_alpha(op: str, data: bytes, size: tuple[int, int]) -> Array:
    """The four bytes of each pixel, as in TensorFlow; Pillow leaves out the last."""
    (width, height), (start, signed_height) = size, struct.unpack_from("<I8xi", data, 10)
    try:
        rows = np.frombuffer(data, np.uint8, 4 * width * height, start).reshape(height, width, 4)
    except ValueError as error:
        raise _broken(op, data, "BMP", error) from error
    return (rows[::-1] if signed_height > 0 else rows)[..., [2, 1, 0, 3]]


def frames(op: str, data: bytes) -> Array:
    """The pixels of a GIF file, of shape (frames, height, width, 3)."""
    image = open_image(op, data, "GIF")
    found: list[Array] = []
    try:
        while True:
            _check_size(op, "GIF", [image.size] * (len(found) + 1))
            found.append(_load(op, data, image, "RGB"))
            image.seek(len(found))
    except EOFError:
        return np.stack(found)
    except (OSError, SyntaxError, ValueError) as error:
        raise _broken(op, data, "GIF", error) from error


def png(op: str, data: bytes, channels: int, bits: int) -> Array:
    """The pixels of a PNG file, with 8 or 16 bits."""
    image = open_image(op, data, "PNG")
    if _END_OF_PNG not in data:
        raise _broken(op, data, "PNG", ValueError("its end is missing"))
    transparent = image.info.get("transparency")
    if deep_png.is_deep(data) and (bits == 16 or data[25] == 4):  # Pillow makes colors of gray with alpha
        try:
            pixels = deep_png.decode(data)
        except ValueError as error:
            raise _broken(op, data, "PNG", error) from error
    elif image.mode == "P":
        pixels = _load(op, data, image, "RGB" if transparent is None else "RGBA")
        transparent = None
    else:
        pixels = _load(op, data, image, "L" if image.mode == "1" else None)
    if pixels.dtype.kind != "u" or pixels.dtype.itemsize == 4:
        pixels = pixels.astype(np.uint16)  # older versions of Pillow give 16 bits as 32
    opaque = np.iinfo(pixels.dtype).max
    if channels == 4 and transparent is not None and pixels.shape[2] in (1, 3):
        shown = (pixels != np.array(transparent)).any(-1, keepdims=True)
        pixels = np.concatenate([pixels, shown * pixels.dtype.type(opaque)], -1)
    pixels = _with_channels(pixels, channels or pixels.shape[2])
    if pixels.dtype == np.uint16 and bits == 8:
        return (pixels >> 8).astype(np.uint8)
    return pixels.astype(np.uint16) * np.uint16(257) if pixels.dtype == np.uint8 and bits == 16 else pixels


def _with_channels(pixels: Array, channels: int) -> Array:
    has = pixels.shape[2]
    if has == channels:
        return pixels
    color, alpha = (pixels[..., :-1], pixels[..., -1:]) if has in (2, 4) else (pixels, None)
    if channels < 3 and color.shape[2] == 3:
        color = ((color * _LUMA).sum(-1, keepdims=True, dtype=np.uint64) >> 15).astype(pixels.dtype)
    if channels >= 3 and color.shape[2] == 1:
        color = color.repeat(3, -1)
    if channels in (1, 3):
        return color
    if alpha is None:
        alpha = np.full_like(color[..., :1], np.iinfo(pixels.dtype).max)
    return np.concatenate([color, alpha], -1)
