"""Decoding and encoding images: against Pillow, against files written here, and against numbers seen in TensorFlow."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from agog_core import errors
from agog_core.tensors.tensor import Tensor
from agog_data import images
from agog_testing import says

# The session `endurance` tries many more broken files.
EXAMPLES = 20_000 if os.environ.get("AGOG_ENDURANCE") == "1" else 250

Array = np.ndarray[Any, Any]

RNG = np.random.default_rng(7)
SMOOTH = np.asarray(
    Image.fromarray(RNG.integers(0, 255, (5, 6, 3), np.uint8)).resize((37, 23), Image.Resampling.BICUBIC)
)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(pixels: Array, color_type: int, bits: int, *chunks: bytes) -> bytes:
    """A PNG file without filters, written down from the description of the format."""
    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, color_type, 0, 0, 0))
    body = b"".join([header, *chunks, chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")])
    return b"\x89PNG\r\n\x1a\n" + body


def pillow(pixels: Array, format: str, **options: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format, **options)
    return file.getvalue()


GRAY, GRAY_ALPHA = np.uint8([[10, 200]]), np.uint8([[[10, 128], [200, 0]]])
RGB = np.uint8([[[255, 0, 0], [0, 255, 0], [0, 0, 255]]])
RGBA = np.uint8([[[255, 0, 0, 128], [0, 255, 0, 0]]])
PALETTE = np.uint8([[0, 1]]), 3, 8, chunk(b"PLTE", b"\1\2\3\4\5\6")
FILES = {
    "gray": png(GRAY, 0, 8),
    "gray alpha": png(GRAY_ALPHA, 4, 8),
    "rgb": png(RGB, 2, 8),
    "rgba": png(RGBA, 6, 8),
    "gray 16": png(np.array([[0x1234, 0xFFEE]], ">u2"), 0, 16),
    "rgb 16": png(np.array([[[0x1234, 0x5678, 0x9ABC]]], ">u2"), 2, 16),
    "palette": png(*PALETTE),
    "palette alpha": png(*PALETTE, chunk(b"tRNS", b"\x80")),
    "bit": png(np.uint8([[128]]), 0, 1),
    "gray transparent": png(GRAY, 0, 8, chunk(b"tRNS", b"\0\x0a")),
}


@pytest.mark.parametrize(
    ("file", "channels", "expected"),
    [
        ("gray", 0, GRAY[..., None]),
        ("gray", 1, GRAY[..., None]),
        ("gray", 3, [[[10] * 3, [200] * 3]]),
        ("gray", 4, [[[10, 10, 10, 255], [200, 200, 200, 255]]]),
        ("gray alpha", 0, GRAY_ALPHA),
        ("gray alpha", 1, GRAY[..., None]),
        ("gray alpha", 3, [[[10] * 3, [200] * 3]]),
        ("gray alpha", 4, [[[10, 10, 10, 128], [200, 200, 200, 0]]]),
        ("rgb", 0, RGB),
        ("rgb", 1, [[[76], [149], [29]]]),  # as in TensorFlow
        ("rgb", 4, [[[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]]]),
        ("rgba", 0, RGBA),
        ("rgba", 1, [[[76], [149]]]),
        ("rgba", 3, RGBA[..., :3]),
        ("palette", 0, [[[1, 2, 3], [4, 5, 6]]]),
        ("palette", 1, [[[1], [4]]]),
        ("palette alpha", 0, [[[1, 2, 3, 128], [4, 5, 6, 255]]]),
        ("palette alpha", 3, [[[1, 2, 3], [4, 5, 6]]]),
        ("bit", 0, [[[255]]]),
        ("gray transparent", 0, GRAY[..., None]),
        ("gray transparent", 4, [[[10, 10, 10, 0], [200, 200, 200, 255]]]),
    ],
)
def test_png_of_eight_bits(file: str, channels: int, expected: Any) -> None:
    for dtype, factor in (("uint8", 1), ("uint16", 257)):
        found = images.decode_png(FILES[file], channels, dtype).numpy()
        assert found.dtype == dtype
        assert found.tolist() == (np.array(expected, np.int64) * factor).tolist()


def test_png_of_sixteen_bits() -> None:
    assert images.decode_png(FILES["gray 16"], 0, "uint16").numpy().tolist() == [[[0x1234], [0xFFEE]]]
    assert images.decode_png(FILES["gray 16"]).numpy().tolist() == [[[0x12], [0xFF]]]
    assert images.decode_png(FILES["gray 16"], 4, "uint16").numpy().tolist() == [
        [[0x1234, 0x1234, 0x1234, 0xFFFF], [0xFFEE, 0xFFEE, 0xFFEE, 0xFFFF]]
    ]
    assert images.decode_png(FILES["rgb 16"], 0, "uint16").numpy().tolist() == [[[0x1234, 0x5678, 0x9ABC]]]
    assert images.decode_png(FILES["rgb 16"]).numpy().tolist() == [[[0x12, 0x56, 0x9A]]]
    scaled = images.decode_image(FILES["gray 16"], dtype="float32").numpy()
    assert np.allclose(scaled[..., 0], [[0x1234 / 0xFFFF, 0xFFEE / 0xFFFF]], rtol=1e-6)


def filtered(pixels: Array, kind: int) -> bytes:
    """The rows of a PNG file with one filter, by the loops of the format's description."""
    rows = np.ascontiguousarray(pixels, ">u2").view(np.uint8).reshape(len(pixels), -1).astype(int)
    step, lines = 2 * pixels.shape[2], b""
    for y, row in enumerate(rows):
        line = [kind]
        for x, value in enumerate(row):
            a = row[x - step] if x >= step else 0
            b = rows[y - 1, x] if y else 0
            c = rows[y - 1, x - step] if y and x >= step else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line.append((value - [0, a, b, (a + b) // 2, paeth][kind]) % 256)
        lines += bytes(line)
    return lines


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("channels", [2, 3, 4])
@pytest.mark.parametrize("interlaced", [False, True])
def test_filters_of_sixteen_bits(kind: int, channels: int, interlaced: bool) -> None:
    pixels = RNG.integers(0, 65536, (9, 7, channels), np.uint16)
    steps = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    parts = [pixels[y::down, x::right] for y, x, down, right in steps] if interlaced else [pixels]
    data = zlib.compress(b"".join(filtered(part, kind) for part in parts if part.size))
    header = struct.pack(">IIBBBBB", 7, 9, 16, {2: 4, 3: 2, 4: 6}[channels], 0, 0, interlaced)
    split = chunk(b"IDAT", data[:50]) + chunk(b"IDAT", data[50:])
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + split + chunk(b"IEND", b"")
    assert np.array_equal(images.decode_png(file, dtype="uint16").numpy(), pixels)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("compression", [-1, 0, 9])
def test_encode_png(channels: int, dtype: str, compression: int) -> None:
    pixels = RNG.integers(0, np.iinfo(dtype).max, (5, 9, channels), dtype)
    file = images.encode_png(pixels, compression)
    assert np.array_equal(images.decode_png(file, dtype=dtype).numpy(), pixels)
    with Image.open(io.BytesIO(file.numpy())) as image:
        shown = np.asarray(image).reshape(*pixels.shape[:2], -1)
        if dtype == "uint16" and channels > 1:  # of these, Pillow gives 8 bits, and colors for gray with alpha
            pixels, shown = pixels >> 8, shown[..., [0, 3]] if channels == 2 else shown
        assert np.array_equal(shown, pixels)


@pytest.mark.parametrize("quality", [50, 95])
def test_jpeg_is_decoded_as_by_pillow(quality: int) -> None:
    file = pillow(SMOOTH, "JPEG", quality=quality)
    with Image.open(io.BytesIO(file)) as image:
        expected = np.asarray(image)
    for decode in (images.decode_jpeg, images.decode_png, images.decode_image):
        assert np.array_equal(decode(file).numpy(), expected)
    assert images.decode_gif(file).numpy().shape == (1, *expected.shape)
    gray = images.decode_jpeg(file, 1).numpy()
    assert gray.shape == (23, 37, 1)
    # Gray is the luma that the file holds, so it is not rounded twice.
    assert abs(gray[..., 0] - SMOOTH @ [0.299, 0.587, 0.114]).mean() < 6
    assert images.decode_jpeg(pillow(SMOOTH[..., 0], "JPEG")).shape == (23, 37, 1)
    assert images.decode_jpeg(pillow(SMOOTH[..., 0], "JPEG"), 3).shape == (23, 37, 3)


@pytest.mark.parametrize("ratio", [1, 2, 4, 8])
def test_smaller_jpegs(ratio: int) -> None:
    flat = np.full((23, 37, 3), [200, 100, 50], np.uint8)
    found = images.decode_jpeg(pillow(flat, "JPEG", quality=95), ratio=ratio).numpy()
    assert found.shape == (-(-23 // ratio), -(-37 // ratio), 3)
    assert abs(found.astype(int) - [200, 100, 50]).max() <= 3
    for height, width in ((1, 3), (3, 3), (5, 2), (7, 100)):
        found = images.decode_jpeg(pillow(np.resize(flat, (height, width, 3)), "JPEG", quality=95), ratio=ratio).numpy()
        assert found.shape == (-(-height // ratio), -(-width // ratio), 3)
        assert abs(found.astype(int) - [200, 100, 50]).max() <= 3


def test_crops() -> None:
    file = pillow(SMOOTH, "JPEG")
    found = images.decode_and_crop_jpeg(file, [3, 5, 7, 11]).numpy()
    assert np.array_equal(found, images.decode_jpeg(file).numpy()[3:10, 5:16])
    with says(
        errors.InvalidArgumentError,
        "decode_and_crop_jpeg: the window with top 20, left 5, height 7 and width 11 is not within the image of 23 by "
        "37.",
    ):
        images.decode_and_crop_jpeg(file, [20, 5, 7, 11])
    with pytest.raises(errors.InvalidArgumentError, match=r"window of shape \(4,\) is expected; it has shape \(3,\)"):
        images.decode_and_crop_jpeg(file, [1, 2, 3])


def test_truncated_jpegs() -> None:
    file = pillow(SMOOTH, "JPEG", quality=95)
    with pytest.raises(errors.InvalidArgumentError, match=r"^decode_jpeg: the JPEG file of \d+ bytes cannot be "):
        images.decode_jpeg(file[:-100])
    found = images.decode_jpeg(file[:-100], try_recover_truncated=True).numpy()
    whole = images.decode_jpeg(file).numpy()
    assert np.array_equal(found[:8], whole[:8])
    assert found.shape == whole.shape


def test_encode_jpeg() -> None:
    for options in ({}, {"progressive": True}, {"optimize_size": True}, {"chroma_downsampling": False}):
        file = images.encode_jpeg(SMOOTH, quality=95, **options).numpy()  # type: ignore[arg-type]
        with Image.open(io.BytesIO(file)) as image:
            assert abs(np.asarray(image).astype(int) - SMOOTH).mean() < 6
            assert bool(image.info.get("progressive")) == bool(options.get("progressive"))
            assert image.info["dpi"] == (300, 300)
    small, large = (len(images.encode_jpeg(SMOOTH, quality=q).numpy()) for q in (10, 100))
    assert small < large
    gray = images.encode_jpeg(SMOOTH[..., :1], "grayscale", density_unit="cm", x_density=10, y_density=20)
    with Image.open(io.BytesIO(gray.numpy())) as image:
        assert image.mode == "L"
        assert image.info["dpi"] == (25, 51)
    assert b"<x:xmpmeta" in images.encode_jpeg(SMOOTH, xmp_metadata="<x:xmpmeta/>").numpy()


def test_gif() -> None:
    frames = [np.full((4, 5, 3), value, np.uint8) for value in (0, 100, 200)]
    rest = [Image.fromarray(frame) for frame in frames[1:]]
    file = pillow(frames[0], "GIF", save_all=True, append_images=rest)
    for decode in (images.decode_gif, images.decode_image):
        assert np.array_equal(decode(file).numpy(), np.stack(frames))
    with says(
        errors.InvalidArgumentError,
        "decode_png: the GIF file has 3 frames; tf.image.decode_gif and tf.image.decode_image decode them.",
    ):
        images.decode_png(file)
    assert np.array_equal(images.decode_png(pillow(frames[1], "GIF")).numpy(), frames[1])


def test_bmp() -> None:
    for pixels in (GRAY, RGB, SMOOTH, RGBA):
        file = pillow(pixels, "BMP")
        expected = pixels.reshape(*pixels.shape[:2], -1)
        assert np.array_equal(images.decode_bmp(file).numpy(), expected)
        assert np.array_equal(images.decode_bmp(file, expected.shape[2]).numpy(), expected)
        assert np.array_equal(images.decode_image(file).numpy(), expected)
    with says(errors.InvalidArgumentError, "decode_bmp: the BMP file has 3 channels, but channels is 4."):
        images.decode_bmp(pillow(RGB, "BMP"), 4)


def test_dtypes_of_decode_image() -> None:
    file = pillow(SMOOTH, "JPEG")
    assert np.allclose(images.decode_image(file, dtype="float32"), images.decode_jpeg(file).numpy() / 255, atol=1e-7)
    assert np.array_equal(
        images.decode_image(file, dtype="uint16").numpy(), images.decode_jpeg(file).numpy().astype(int) * 256
    )


def test_is_jpeg_and_extract_jpeg_shape() -> None:
    file = pillow(SMOOTH, "JPEG")
    assert bool(images.is_jpeg(file))
    assert images.is_jpeg([[file, b"", FILES["rgb"]]]).numpy().tolist() == [[True, False, False]]
    assert images.extract_jpeg_shape(file).numpy().tolist() == [23, 37, 3]
    assert images.extract_jpeg_shape(pillow(GRAY, "JPEG"), "int64").dtype.name == "int64"


JPEG = pillow(GRAY, "JPEG")


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (
            lambda: images.decode_image(b"hello"),
            "decode_image: the bytes of a JPEG or PNG or GIF or BMP file are expected; these 5 bytes begin with "
            "b'hello'.",
        ),
        (
            lambda: images.decode_png(b""),
            "decode_png: the bytes of a JPEG or PNG or GIF file are expected; these 0 bytes begin with b''.",
        ),
        (lambda: images.decode_png([JPEG]), "decode_png: contents must be a scalar string; it has shape (1,)."),
        (
            lambda: images.decode_png(FILES["rgb"][:-20]),
            "decode_png: the PNG file of 51 bytes cannot be decoded: its end is missing.",
        ),
        (
            lambda: images.decode_bmp(b"BM123"),
            "decode_bmp: the BMP file of 5 bytes cannot be decoded: its header is broken.",
        ),
        (
            lambda: images.decode_png(FILES["rgb"], 5),
            "decode_png: channels must be one of (0, 1, 3, 4) for PNG; got 5.",
        ),
        (lambda: images.decode_jpeg(JPEG, 4), "decode_jpeg: channels must be one of (0, 1, 3) for JPEG; got 4."),
        (lambda: images.decode_jpeg(JPEG, ratio=3), "decode_jpeg: ratio must be 1, 2, 4 or 8; got 3."),
        (
            lambda: images.decode_jpeg(JPEG, dct_method="FAST"),
            "decode_jpeg: dct_method must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE'; got 'FAST'.",
        ),
        (
            lambda: images.decode_png(JPEG, dtype="uint16"),
            "decode_png: JPEG has 8 bits for a channel; dtype must be uint8, not uint16.",
        ),
        (
            lambda: images.decode_png(FILES["rgb"], dtype="float32"),
            "decode_png: dtype must be uint8 or uint16; got float32.",
        ),
        (
            lambda: images.extract_jpeg_shape(JPEG, "float32"),
            "extract_jpeg_shape: output_type must be int32 or int64; got float32.",
        ),
        (
            lambda: images.encode_png(np.zeros((2, 2), np.uint8)),
            "encode_png: an image of dtype uint8 or uint16 and shape (height, width, channels) with 1, 2, 3, 4 "
            "channels is expected; it has dtype uint8 and shape (2, 2).",
        ),
        (
            lambda: images.encode_png(GRAY[..., None], 10),
            "encode_png: compression must be from -1 to 9; got 10.",
        ),
        (
            lambda: images.encode_jpeg(np.zeros((2, 2, 3), np.float32)),
            "encode_jpeg: an image of dtype uint8 and shape (height, width, channels) with 1, 3 channels is expected; "
            "it has dtype float32 and shape (2, 2, 3).",
        ),
        (
            lambda: images.encode_jpeg(GRAY[..., None], "rgb"),
            "encode_jpeg: format must be '', 'grayscale' for 1 channel, or 'rgb' for 3; got 'rgb' for 1.",
        ),
        (
            lambda: images.encode_jpeg(GRAY[..., None], quality=101),
            "encode_jpeg: quality must be from 0 to 100; got 101.",
        ),
        (
            lambda: images.encode_jpeg(GRAY[..., None], density_unit="m"),
            "encode_jpeg: density_unit must be 'in' or 'cm'; got 'm'.",
        ),
    ],
)
def test_errors(call: Callable[[], Tensor], problem: str) -> None:
    with says(errors.InvalidArgumentError, problem):
        call()


def test_wrong_channels_of_decode_image() -> None:
    with pytest.raises(ValueError, match=r"^decode_image: channels must be None, 0, 1, 3 or 4; got 2\.$"):
        images.decode_image(JPEG, 2)


def test_what_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0))
    bomb = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    with pytest.raises(errors.InvalidArgumentError, match=r"^decode_png: Image size \(10000000000 pixels\) "):
        images.decode_png(bomb)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 25)
    frame = np.zeros((4, 5, 3), np.uint8)
    images.decode_gif(pillow(frame, "GIF"))
    moving = pillow(frame, "GIF", save_all=True, append_images=[Image.fromarray(frame + 9)])
    with says(
        errors.InvalidArgumentError,
        "decode_gif: the GIF file has 40 pixels; more than 25 are refused. If you trust it, set "
        "PIL.Image.MAX_IMAGE_PIXELS.",
    ):
        images.decode_gif(moving)


WHOLE = [
    *FILES.values(),
    pillow(SMOOTH[:4, :4], "JPEG"),
    pillow(SMOOTH[:4, :4], "GIF"),
    pillow(RGB, "BMP"),
    pillow(RGBA, "BMP"),
    images.encode_png(RNG.integers(0, 65536, (3, 3, 3), np.uint16)).numpy(),
]


@settings(max_examples=EXAMPLES, derandomize=EXAMPLES < 1000, deadline=None)
@given(st.sampled_from(WHOLE), st.sampled_from(["uint8", "uint16"]), st.data())
def test_any_bytes_are_an_image_or_one_error(content: bytes, dtype: str, data: st.DataObject) -> None:
    mutated = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        mutated[data.draw(st.integers(0, len(mutated) - 1))] = data.draw(st.integers(0, 255))
    file = bytes(mutated[: data.draw(st.integers(0, len(mutated)) | st.just(len(mutated)))])
    try:
        found = images.decode_image(file, dtype=dtype)
    except errors.InvalidArgumentError as error:
        assert str(error).startswith("decode_image: ")  # noqa: PT017  (most examples raise, some do not)
    else:
        assert found.dtype.name == dtype


def test_without_pillow() -> None:
    program = (
        "import sys; sys.modules['PIL'] = None\n"
        "from agog_data import images\n"
        "try: images.decode_png(b'\\x89PNG\\r\\n\\x1a\\n')\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "tf.image.decode_png needs the package pillow: pip install agog-data[images]\n"


@pytest.mark.parametrize("given", [{"fancy_upscaling": False}, {"acceptable_fraction": 0.5}])
def test_arguments_of_jpeg_files_that_change_nothing_are_told_of(given: dict[str, Any]) -> None:
    data = images.encode_jpeg(np.zeros([8, 8, 3], np.uint8))
    with pytest.warns(UserWarning, match="no effect") as caught:
        images.decode_jpeg(data, **given)
    assert [str(each.message) for each in caught] == [
        "decode_jpeg: fancy_upscaling and acceptable_fraction have no effect: colors are always upscaled smoothly, and "
        "of a file that ends too early try_recover_truncated=True takes whatever is there."
    ]
