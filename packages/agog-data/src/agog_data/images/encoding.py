"""Encoding images: ``tf.image.encode_png`` and ``tf.image.encode_jpeg``."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from agog_core import Tensor, TensorLike, convert_to_tensor
from agog_core.calls.docstrings import documented_like
from agog_core.errors import InvalidArgumentError
from agog_data.images import deep_png
from agog_data.images.formats import pillow

Array = np.ndarray[Any, Any]

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """Encode an image as a PNG file.

    Args:
        image: uint8 or uint16 of shape (height, width, channels): 1 for gray, 2 for gray and alpha, 3 for RGB, 4 for
            RGBA.
        compression: from 0 for none to 9 for the smallest file; -1 for zlib's default.

    Returns:
        The file's bytes, a scalar string.

    Raises:
        InvalidArgumentError: an argument has another dtype, shape or value.
    """
    pixels = _pixels("encode_png", image, (1, 2, 3, 4), ("uint8", "uint16"))
    if not -1 <= compression <= 9:
        raise InvalidArgumentError(f"encode_png: compression must be from -1 to 9; got {compression!r}.")
    if pixels.dtype == np.uint16:
        return convert_to_tensor(deep_png.encode(pixels, compression))
    return _saved(pixels, "PNG", compress_level=compression)


@documented_like(encode_png)
def encode_jpeg(
    image: TensorLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """Encode an image as a JPEG file.

    Args:
        image: uint8 of shape (height, width, channels): 1 for gray, 3 for RGB.
        format: ``"grayscale"`` or ``"rgb"``, which must fit the channels; ``""`` for what they say.
        quality: from 0 to 100.
        progressive: whether a viewer may show a coarse image while it loads.
        optimize_size: whether to spend time to make the file smaller, with the same image.
        chroma_downsampling: whether colors have half the resolution.
        density_unit: ``"in"`` or ``"cm"``.
        x_density: pixels in a row per unit.
        y_density: pixels in a column per unit.
        xmp_metadata: XMP data for the file's header; ``""`` for none.
    """
    pixels = _pixels("encode_jpeg", image, (1, 3), ("uint8",))
    if format not in ("", "grayscale", "rgb") or (format and (format == "rgb") != (pixels.shape[2] == 3)):
        raise InvalidArgumentError(
            f"encode_jpeg: format must be '', 'grayscale' for 1 channel, or 'rgb' for 3; got {format!r} for "
            f"{pixels.shape[2]}."
        )
    if not 0 <= quality <= 100:
        raise InvalidArgumentError(f"encode_jpeg: quality must be from 0 to 100; got {quality!r}.")
    if density_unit not in ("in", "cm"):
        raise InvalidArgumentError(f"encode_jpeg: density_unit must be 'in' or 'cm'; got {density_unit!r}.")
    scale = 1.0 if density_unit == "in" else 2.54
    options: dict[str, Any] = {"xmp": xmp_metadata.encode()} if xmp_metadata else {}
    return _saved(
        pixels,
        "JPEG",
        quality=int(quality),
        progressive=bool(progressive),
        optimize=bool(optimize_size),
        subsampling=2 if chroma_downsampling else 0,
        dpi=(round(x_density * scale), round(y_density * scale)),
        **options,
    )


def _pixels(op: str, image: TensorLike, channels: tuple[int, ...], names: tuple[str, ...]) -> Array:
    tensor = convert_to_tensor(image)
    shape, dtype = tensor._shape, tensor.dtype.name
    if len(shape) != 3 or shape[2] not in channels or 0 in shape or dtype not in names:
        raise InvalidArgumentError(
            f"{op}: an image of dtype {' or '.join(names)} and shape (height, width, channels) with "
            f"{', '.join(map(str, channels))} channels is expected; it has dtype {dtype} and shape {shape}."
        )
    return np.asarray(tensor._host())


def _saved(pixels: Array, format: str, **options: Any) -> Tensor:
    library = pillow(f"encode_{format.lower()}")
    height, width, channels = pixels.shape
    image = library.frombytes(_MODES[channels], (width, height), np.ascontiguousarray(pixels).tobytes())
    file = io.BytesIO()
    image.save(file, format, **options)
    return convert_to_tensor(file.getvalue())
