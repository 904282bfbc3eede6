"""Summaries of all kinds: scalars, histograms, images, sounds, texts and tensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core import Tensor, convert_to_tensor, py_func
from agog_core.errors import InvalidArgumentError
from agog_core.tracers import present_tracer, tracing
from agog_core.variables.global_step import get_or_create_global_step
from agog_core.variables.name_scope import current_name_scope
from agog_summary.encoding import png, to_bytes, wav
from agog_summary.recording import is_recorded, should_record_summaries
from agog_summary.tensors import histogram_proto, tensor_proto
from agog_summary.writer import default_event_file

Array = np.ndarray[Any, Any]


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> None:
    """Write a number, where a writer is the default and a policy records.

    Args:
        name: the tag, after the name scope.
        tensor: a real number or a tensor of shape ``()``.
        family: what the tag begins with.
        step: the step; None for the global step, which is made if there is none.

    Raises:
        InvalidArgumentError: ``tensor`` is not one real number.

    >>> scalar("loss", 0.5)
    """

    def values(tag: str, given: Any) -> list[dict[str, Any]]:
        value = _real("scalar", name, given)
        if value.ndim:
            raise InvalidArgumentError(f"summary.scalar {name!r}: expected one number; got shape {value.shape}.")
        return [{"tag": tag, "simple_value": float(value)}]

    _record(name, family, step, tensor, values)


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> None:
    """Write how values are distributed, where a writer is the default and a policy records.

    The values are counted in fixed buckets that grow by a tenth from 1e-12 on, and their mirror images.

    Args:
        name: the tag, after the name scope.
        tensor: real numbers of any shape.
        family: what the tag begins with.
        step: the step; None for the global step, which is made if there is none.

    Raises:
        InvalidArgumentError: ``tensor`` is not of real numbers, or one is not finite.

    >>> histogram("weights", [0.5, -0.5])
    """

    def values(tag: str, given: Any) -> list[dict[str, Any]]:
        numbers = _real("histogram", name, given).astype(np.float64)
        if not np.isfinite(numbers).all():
            raise InvalidArgumentError(
                f"summary.histogram {name!r}: {np.sum(~np.isfinite(numbers))} of {numbers.size} values are NaN or "
                "infinite, and there is no bucket for them."
            )
        return [{"tag": tag, "histo": histogram_proto(numbers)}]

    _record(name, family, step, tensor, values)


def image(
    name: str,
    tensor: Any,
    bad_color: Sequence[int] | None = None,
    max_images: int = 3,
    family: str | None = None,
    step: Any = None,
) -> None:
    """Write images, where a writer is the default and a policy records.

    Each image of floats is scaled: the largest value becomes 255; where a value is negative, 0 becomes 128 and the
    value that is farthest from it 127 more or less.

    Args:
        name: the tags are ``name/image/0`` and so on, or ``name/image`` where ``max_images`` is 1, after the name
            scope.
        tensor: uint8 or floats of shape ``[images, height, width, channels]``, with 1, 3 or 4 channels.
        bad_color: the color of pixels that are not finite, a number up to 255 for each channel; red by default.
        max_images: how many images are written at most.
        family: what the tags begin with.
        step: the step; None for the global step, which is made if there is none.

    Raises:
        InvalidArgumentError: ``tensor`` is no batch of images, or ``bad_color`` has too few numbers.

    >>> image("digits", [[[[0.0], [1.0]]]])
    """

    def values(tag: str, given: Any) -> list[dict[str, Any]]:
        images = _real("image", name, given)
        color = (255, 0, 0, 255) if bad_color is None else tuple(bad_color)
        if (
            images.ndim != 4
            or images.shape[3] not in (1, 3, 4)
            or not (images.dtype == np.uint8 or images.dtype.kind == "f")
        ):
            raise InvalidArgumentError(
                f"summary.image {name!r}: expected uint8 or floats of shape [images, height, width, channels] with "
                f"1, 3 or 4 channels; got {images.dtype} of shape {images.shape}."
            )
        height, width, channels = images.shape[1:]
        if len(color) < channels:
            raise InvalidArgumentError(
                f"summary.image {name!r}: bad_color needs a number for each of {channels} channels; got {color}."
            )
        return [
            {
                "tag": _numbered(f"{tag}/image", index, max_images),
                "image": {
                    "height": height,
                    "width": width,
                    "colorspace": channels,
                    "encoded_image_string": png(to_bytes(pixels, color[:channels])),
                },
            }
            for index, pixels in enumerate(images[:max_images])
        ]

    _record(name, family, step, tensor, values)


def audio(
    name: str, tensor: Any, sample_rate: float, max_outputs: int = 3, family: str | None = None, step: Any = None
) -> None:
    """Write sounds, where a writer is the default and a policy records.

    Args:
        name: the tags are ``name/audio/0`` and so on, or ``name/audio`` where ``max_outputs`` is 1, after the name
            scope.
        tensor: numbers from -1 to 1 of shape ``[sounds, frames, channels]`` or ``[sounds, frames]``.
        sample_rate: how many frames a second has.
        max_outputs: how many sounds are written at most.
        family: what the tags begin with.
        step: the step; None for the global step, which is made if there is none.

    Raises:
        InvalidArgumentError: ``tensor`` is no batch of sounds.

    >>> audio("beep", [[0.0, 1.0, 0.0, -1.0]], 8000)
    """

    def values(tag: str, given: Any) -> list[dict[str, Any]]:
        sounds = _real("audio", name, given)
        if sounds.ndim == 2:
            sounds = sounds[..., np.newaxis]
        if sounds.ndim != 3:
            raise InvalidArgumentError(
                f"summary.audio {name!r}: expected shape [sounds, frames, channels] or [sounds, frames]; got shape "
                f"{sounds.shape}."
            )
        frames, channels = sounds.shape[1:]
        return [
            {
                "tag": _numbered(f"{tag}/audio", index, max_outputs),
                "audio": {
                    "sample_rate": float(sample_rate),
                    "num_channels": channels,
                    "length_frames": frames,
                    "encoded_audio_string": wav(samples, round(float(sample_rate))),
                    "content_type": "audio/wav",
                },
            }
            for index, samples in enumerate(sounds[:max_outputs])
        ]

    _record(name, family, step, tensor, values)


def text(name: str, tensor: Any, family: str | None = None, step: Any = None) -> None:
    """Write text, which TensorBoard shows as Markdown, where a writer is the default and a policy records.

    Args:
        name: the tag, after the name scope.
        tensor: a string, or a tensor of strings; TensorBoard shows those of shape ``[n]`` and ``[rows, columns]`` as
            tables.
        family: what the tag begins with.
        step: the step; None for the global step, which is made if there is none.

    Raises:
        ValueError: ``tensor`` is not of strings.

    >>> text("note", "The learning rate is **halved**.")
    """

    def values(tag: str, given: Any) -> list[dict[str, Any]]:
        from tensorboardX.proto.summary_pb2 import SummaryMetadata

        # The plugin's own data are of version 0, which is written as nothing.
        metadata = SummaryMetadata(plugin_data={"plugin_name": "text"})
        return [_tensor_value(tag, _strings(name, given), metadata)]

    _record(name, family, step, tensor, values)


def generic(name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None) -> None:
    """Write any tensor, such as text, for the plugin of TensorBoard that the metadata name.

    Args:
        name: the tag, after the name scope.
        tensor: a tensor of any dtype and shape.
        metadata: a ``SummaryMetadata`` message, or one that is serialized: bytes, text or a scalar tensor of strings.
        family: what the tag begins with.
        step: the step; None for the global step, which is made if there is none.

    Raises:
        InvalidArgumentError: ``metadata`` are none, or event files have no such dtype.

    >>> generic("note", "The learning rate is halved.")
    """

    def values(tag: str, given: Any) -> list[dict[str, Any]]:
        return [_tensor_value(tag, convert_to_tensor(given), _metadata(name, metadata))]

    _record(name, family, step, tensor, values)


def _record(
    name: str, family: str | None, step: Any, tensor: Any, values: Callable[[str, Any], list[dict[str, Any]]]
) -> None:
    """Write the values of a tag, which are computed of the tensor only where they are recorded: in a function that is
    being traced, at each of its runs."""
    file, is_traced = default_event_file(), bool(tracing) and present_tracer() is not None
    if file is None or not (is_traced or should_record_summaries()):
        return
    tag = _clean(name)
    if family is not None:
        # TensorFlow has the family inside the name scope too.
        tag = f"{_clean(family)}/{current_name_scope()}{_clean(family)}/{tag}"
    else:
        tag = f"{current_name_scope()}{tag}"

    def write(at: Any, given: Any) -> None:
        from tensorboardX.proto.summary_pb2 import Summary

        file.write(int(at), summary=Summary(value=values(tag, given)))

    at = get_or_create_global_step() if step is None else step
    if is_traced:
        py_func(lambda wanted, at, given: write(at, given) if wanted else None, [is_recorded(), at, tensor], [])
    else:
        write(at, tensor)


def _tensor_value(tag: str, tensor: Tensor, metadata: Any) -> dict[str, Any]:
    value: dict[str, Any] = {"tag": tag, "tensor": tensor_proto(tensor)}
    if metadata is not None:
        value["metadata"] = metadata
    return value


def _metadata(name: str, given: Any) -> Any:
    """The message, also of a serialized one; None for none."""
    from google.protobuf.message import DecodeError
    from tensorboardX.proto.summary_pb2 import SummaryMetadata

    if given is None:
        return None
    serialized = given.SerializeToString() if hasattr(given, "SerializeToString") else given
    if isinstance(serialized, Tensor):
        serialized = serialized.numpy()
    if isinstance(serialized, np.ndarray) and not serialized.shape:
        serialized = serialized.item()
    if isinstance(serialized, str):
        serialized = serialized.encode()
    try:
        return SummaryMetadata.FromString(serialized)
    except (DecodeError, TypeError) as error:
        raise InvalidArgumentError(
            f"summary.generic {name!r}: metadata must be a SummaryMetadata message, or one that is serialized, as "
            f"bytes, text or a scalar tensor; got {given!r}. Text for TensorBoard is written by summary.text."
        ) from error


def _strings(name: str, tensor: Any) -> Tensor:
    value = convert_to_tensor(tensor)
    if value.dtype.name != "string":
        raise ValueError(f"summary.text {name!r}: expected strings; got dtype {value.dtype.name}.")
    return value


def _clean(name: str) -> str:
    return re.sub(r"[^-/\w.]", "_", name).lstrip("/")


def _numbered(tag: str, index: int, most: int) -> str:
    return f"{tag}/{index}" if most > 1 else tag


def _real(kind: str, name: str, tensor: Any) -> Array:
    """The array of real numbers, bfloat16 as float32."""
    value = convert_to_tensor(tensor)
    if not (value.dtype.is_floating or value.dtype.is_integer):
        raise InvalidArgumentError(f"summary.{kind} {name!r}: expected real numbers; got dtype {value.dtype.name}.")
    array = np.asarray(value.numpy())
    return array.astype(np.float32) if value.dtype.name == "bfloat16" else array
