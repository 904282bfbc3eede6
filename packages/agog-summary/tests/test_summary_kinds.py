"""What each kind of summary writes."""

from __future__ import annotations

import io
import struct
import wave
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboardX.proto.summary_pb2 import SummaryMetadata

import agog_core as ag
import agog_summary as summary
from agog_core.errors import InvalidArgumentError
from agog_core.variables.global_step import get_or_create_global_step
from agog_testing import says


@pytest.mark.parametrize("number", [2, 0.25, np.int64(3), ag.constant(1.5, ag.bfloat16), ag.Variable(4.0)])
def test_scalars(tmp_path: Path, number: Any, written: Any) -> None:
    (value,) = written(tmp_path, summary.scalar, "n", number)
    assert value.simple_value == float(number)


def test_infinite_scalars(tmp_path: Path, written: Any) -> None:
    (value,) = written(tmp_path, summary.scalar, "n", float("inf"))
    assert value.simple_value == float("inf")


def test_tags_have_name_scopes_and_families(tmp_path: Path, events_of: Any) -> None:
    with summary.create_file_writer(tmp_path).as_default(), summary.always_record_summaries():
        summary.scalar("/a b:0", 1.0, step=0)
        with ag.name_scope("outer"):
            summary.scalar("loss", 1.0, step=0)
            summary.scalar("loss", 1.0, family="train", step=0)
    tags = [event.summary.value[0].tag for event in events_of(tmp_path)[1:]]
    assert tags == ["a_b_0", "outer/loss", "train/outer/train/loss"]


def test_histogram(tmp_path: Path, written: Any) -> None:
    numbers = np.random.default_rng(5).normal(size=(40, 25))
    numbers[0, :3] = [0.0, 1e30, -1e30]
    (value,) = written(tmp_path, summary.histogram, "weights", numbers)
    histogram = value.histo
    assert value.tag == "weights"
    assert (histogram.min, histogram.max, histogram.num) == (-1e30, 1e30, 1000)
    assert histogram.sum == numbers.sum()
    assert histogram.sum_squares == np.square(numbers).sum()
    limits = [-np.inf, *histogram.bucket_limit]
    counts = [np.sum((low <= numbers) & (numbers < high)) for low, high in pairwise(limits)]
    assert list(histogram.bucket) == counts
    assert sum(counts) == 1000
    assert not [pair for pair in pairwise(counts) if pair == (0, 0)]


def test_limits_grow_by_a_tenth(tmp_path: Path, written: Any) -> None:
    numbers = np.array([-3.0, -1e-5, 2e-12, 1.0, 1.0, 7e19])
    (value,) = written(tmp_path, summary.histogram, "weights", numbers)
    filled = [
        (limit, count) for limit, count in zip(value.histo.bucket_limit, value.histo.bucket, strict=True) if count
    ]
    assert [count for _, count in filled] == [1, 1, 1, 2, 1]
    for number, (limit, _) in zip([-3.0, -1e-5, 2e-12, 1.0, 7e19], filled, strict=True):
        assert number < limit <= max(1.1 * number, number / 1.1) * (1 + 1e-9)


def test_histograms_at_the_ends(tmp_path: Path, written: Any) -> None:
    largest = float(np.finfo(np.float64).max)
    (value,) = written(tmp_path / "empty", summary.histogram, "weights", np.zeros([0]))
    assert (value.histo.num, list(value.histo.bucket), list(value.histo.bucket_limit)) == (0, [0.0], [largest])
    (value,) = written(tmp_path / "largest", summary.histogram, "weights", np.array([largest]))
    assert (list(value.histo.bucket), value.histo.bucket_limit[-1]) == ([0.0, 1.0], largest)


def pixels_of(file: bytes) -> np.ndarray[Any, Any]:
    """The pixels of an unfiltered PNG file of 8 bits."""
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, rest = {}, file[8:]
    while rest:
        (length,) = struct.unpack(">I", rest[:4])
        assert struct.unpack(">I", rest[8 + length : 12 + length])[0] == zlib.crc32(rest[4 : 8 + length])
        chunks[rest[4:8]] = rest[8 : 8 + length]
        rest = rest[12 + length :]
    width, height, depth, color, *_ = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert depth == 8
    channels = {0: 1, 2: 3, 6: 4}[color]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + width * channels)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, channels)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_images_of_bytes(tmp_path: Path, channels: int, written: Any) -> None:
    images = np.random.default_rng(7).integers(0, 256, [4, 5, 6, channels], np.uint8)
    values = written(tmp_path, summary.image, "digits", images)
    assert [value.tag for value in values] == ["digits/image/0", "digits/image/1", "digits/image/2"]
    for value, expected in zip(values, images, strict=False):
        assert (value.image.height, value.image.width, value.image.colorspace) == (5, 6, channels)
        np.testing.assert_array_equal(pixels_of(value.image.encoded_image_string), expected)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([0.0, 0.25, 0.5], [0, 127, 255]),
        ([-2.0, 0.0, 1.0], [1, 128, 191]),
        ([np.nan, 0.0, 1.0], [9, 0, 255]),
        ([-np.inf, 0.0, 1.0], [9, 0, 255]),
        ([0.0, 0.0, 1e-7], [0, 0, 0]),
    ],
)
@pytest.mark.parametrize("dtype", [ag.float32, ag.float16, ag.bfloat16, ag.float64])
def test_images_of_floats(tmp_path: Path, row: list[float], expected: list[int], dtype: ag.DType, written: Any) -> None:
    image = ag.cast(ag.reshape(ag.constant(row), [1, 1, 3, 1]), dtype)
    (value,) = written(tmp_path, summary.image, "digits", image, bad_color=[9], max_images=1)
    assert value.tag == "digits/image"
    assert pixels_of(value.image.encoded_image_string).ravel().tolist() == expected


def test_bad_pixels_are_red(tmp_path: Path, written: Any) -> None:
    (value,) = written(tmp_path, summary.image, "digits", [[[[np.nan, 0.0, 1.0], [1.0, 0.0, 0.5]]]])
    assert pixels_of(value.image.encoded_image_string).tolist() == [[[255, 0, 0], [255, 0, 127]]]


def test_audio(tmp_path: Path, written: Any) -> None:
    sounds = np.random.default_rng(9).uniform(-1.1, 1.1, [2, 50, 2])
    values = written(tmp_path, summary.audio, "beep", sounds, 8000.0)
    assert [value.tag for value in values] == ["beep/audio/0", "beep/audio/1"]
    for value, sound in zip(values, sounds, strict=True):
        audio = value.audio
        assert (audio.sample_rate, audio.num_channels, audio.length_frames) == (8000, 2, 50)
        assert audio.content_type == "audio/wav"
        with wave.open(io.BytesIO(audio.encoded_audio_string)) as file:
            assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (8000, 2, 2)
            samples = np.frombuffer(file.readframes(50), "<i2").reshape(50, 2)
        # Half a step of the 16 bits, a whole one at 1 itself, which the format cannot hold.
        assert np.abs(samples / 32768 - np.clip(sound, -1, 1)).max() <= 1 / 32768


def test_audio_without_channels(tmp_path: Path, written: Any) -> None:
    (value,) = written(tmp_path, summary.audio, "beep", [[0.0, 1.0, -1.0]], 8000, max_outputs=1)
    assert (value.tag, value.audio.num_channels, value.audio.length_frames) == ("beep/audio", 1, 3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64", "uint16", "bool", "complex64"])
def test_generic(tmp_path: Path, dtype: str, written: Any) -> None:
    numbers = np.arange(6).reshape(2, 3).astype(dtype)
    (value,) = written(tmp_path, summary.generic, "any", numbers)
    codes = {"float32": 1, "float64": 2, "float16": 19, "int8": 6, "int64": 9, "uint16": 17, "bool": 10, "complex64": 8}
    assert value.tensor.dtype == codes[dtype]
    assert [dim.size for dim in value.tensor.tensor_shape.dim] == [2, 3]
    np.testing.assert_array_equal(np.frombuffer(value.tensor.tensor_content, dtype).reshape(2, 3), numbers)
    assert not value.HasField("metadata")


@pytest.mark.parametrize("form", ["message", "bytes", "text", "tensor", "array"])
def test_text_with_metadata(tmp_path: Path, form: str, written: Any) -> None:
    metadata = SummaryMetadata(plugin_data={"plugin_name": "text"})
    serialized = metadata.SerializeToString()
    given = {
        "message": metadata,
        "bytes": serialized,
        "text": serialized.decode(),
        "tensor": ag.constant(serialized),
        "array": np.array(serialized, object),
    }[form]
    (value,) = written(tmp_path, summary.generic, "note", "halved", given)
    assert (value.tag, value.metadata.plugin_data.plugin_name) == ("note", "text")
    assert (value.tensor.dtype, list(value.tensor.string_val), len(value.tensor.tensor_shape.dim)) == (
        7,
        [b"halved"],
        0,
    )


def test_no_metadata_is_empty_text(tmp_path: Path, written: Any) -> None:
    (value,) = written(tmp_path, summary.generic, "note", "halved", "")
    assert value.metadata == SummaryMetadata()


@pytest.mark.parametrize("metadata", ["text", 5, ["text"], ag.constant(["a", "b"])])
def test_metadata_that_are_none(tmp_path: Path, metadata: Any, written: Any) -> None:
    with says(
        InvalidArgumentError,
        "summary.generic 'note': metadata must be a SummaryMetadata message, or one that is serialized, as bytes, "
        f"text or a scalar tensor; got {metadata!r}. Text for TensorBoard is written by summary.text.",
    ):
        written(tmp_path, summary.generic, "note", "halved", metadata)


@pytest.mark.parametrize("given", ["**halved**", b"**halved**", ag.constant("**halved**")])
def test_text(tmp_path: Path, given: Any, written: Any) -> None:
    (value,) = written(tmp_path, summary.text, "note", given, family="notes")
    assert (value.tag, value.metadata.plugin_data.plugin_name) == ("notes/notes/note", "text")
    # A version 0 is no bytes at all.
    assert value.metadata.plugin_data.content == b""
    assert (value.tensor.dtype, list(value.tensor.string_val)) == (7, [b"**halved**"])


def test_text_takes_strings_only(tmp_path: Path, written: Any) -> None:
    with says(ValueError, "summary.text 'note': expected strings; got dtype float32."):
        written(tmp_path, summary.text, "note", 1.0)


def test_several_texts(tmp_path: Path, written: Any) -> None:
    (value,) = written(tmp_path, summary.generic, "note", ag.constant([["a", "b"]]))
    assert list(value.tensor.string_val) == [b"a", b"b"]
    assert [dim.size for dim in value.tensor.tensor_shape.dim] == [1, 2]


@pytest.mark.parametrize(
    ("function", "arguments", "text"),
    [
        (summary.scalar, [[1.0, 2.0]], "summary.scalar 'n': expected one number; got shape (2,)."),
        (summary.scalar, ["a"], "summary.scalar 'n': expected real numbers; got dtype string."),
        (summary.scalar, [1j], "summary.scalar 'n': expected real numbers; got dtype complex128."),
        (
            summary.histogram,
            [[1.0, np.nan, np.inf]],
            "summary.histogram 'n': 2 of 3 values are NaN or infinite, and there is no bucket for them.",
        ),
        (
            summary.image,
            [np.zeros([1, 2, 3, 2], np.float32)],
            "summary.image 'n': expected uint8 or floats of shape [images, height, width, channels] with 1, 3 or 4 "
            "channels; got float32 of shape (1, 2, 3, 2).",
        ),
        (
            summary.image,
            [np.zeros([1, 2, 3, 1], np.uint16)],
            "summary.image 'n': expected uint8 or floats of shape [images, height, width, channels] with 1, 3 or 4 "
            "channels; got uint16 of shape (1, 2, 3, 1).",
        ),
        (
            summary.image,
            [np.zeros([1, 2, 3, 3]), [1]],
            "summary.image 'n': bad_color needs a number for each of 3 channels; got (1,).",
        ),
        (
            summary.audio,
            [[0.5], 8000],
            "summary.audio 'n': expected shape [sounds, frames, channels] or [sounds, frames]; got shape (1,).",
        ),
        (
            summary.generic,
            [np.zeros(1, np.uint64)],
            "summary.generic: event files have no dtype uint64; cast the tensor first.",
        ),
    ],
)
def test_errors(tmp_path: Path, function: Any, arguments: list[Any], text: str, written: Any) -> None:
    with says(InvalidArgumentError, text):
        written(tmp_path, function, "n", *arguments)


def test_summaries_of_traced_functions(tmp_path: Path, events_of: Any) -> None:
    step = get_or_create_global_step()
    begin = int(step)

    @ag.function
    def train(x: Any) -> Any:
        step.assign_add(1)
        summary.scalar("loss", x * 2)
        with ag.name_scope("inner"):
            summary.histogram("x", [x, x + 1], step=step * 10)
        summary.text("note", ag.as_string(x), step=5)
        return x

    with summary.create_file_writer(tmp_path).as_default(), summary.always_record_summaries():
        train(ag.constant(3.0))
        train(ag.constant(4.0))
    events = events_of(tmp_path)[1:]
    step.assign(begin)
    values = [event.summary.value[0] for event in events]
    assert [value.tag for value in values] == ["loss", "inner/x", "note"] * 2
    after = [begin + 1, begin + 2]
    assert [event.step for event in events] == [number for at in after for number in (at, at * 10, 5)]
    assert [value.simple_value for value in values[::3]] == [6.0, 8.0]
    assert [(value.histo.min, value.histo.max) for value in values[1::3]] == [(3.0, 4.0), (4.0, 5.0)]
    assert [value.tensor.string_val[0] for value in values[2::3]] == [b"3.000000", b"4.000000"]
