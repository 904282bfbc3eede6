"""Images: decoding and encoding of PNG, JPEG, GIF and BMP, by Pillow.

An image may have as many pixels as Pillow allows, ``PIL.Image.MAX_IMAGE_PIXELS`` (89 million by default), all frames
together: a small file may announce sizes that fill the memory.
"""

from agog_data.images.decoding import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from agog_data.images.encoding import encode_jpeg, encode_png

__all__ = [
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "is_jpeg",
]
