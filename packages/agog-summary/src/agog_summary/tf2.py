"""Tf2: TensorFlow 2's ``tf.summary``, recorded under a default writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agog_core import int64
from agog_core.settings import Same, Setting
from agog_core.tracers import late, operand, present_tracer, tracing
from agog_summary import recording, summaries
from agog_summary.writer import SummaryWriter, default_event_file

__all__ = [
    "audio",
    "create_noop_writer",
    "get_step",
    "histogram",
    "image",
    "record_if",
    "scalar",
    "set_step",
    "should_record_summaries",
    "text",
    "write",
]

# What `record_if` says in this thread or task.
_condition: Setting[Any] = Setting("agog_summary_condition", True, key=Same)


def should_record_summaries() -> bool:
    """Whether summaries are recorded now: there is a default writer, and `record_if` says nothing against it.

    Returns:
        True or False.
    """
    condition = _condition.get()
    return default_event_file() is not None and bool(condition() if callable(condition) else condition)


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Record the summaries inside only where a condition holds.

    Args:
        condition: a bool, or a function without arguments that returns one.

    Returns:
        A context manager.

    >>> with record_if(False):
    ...     should_record_summaries()
    False
    """
    token = _condition.set(condition)
    try:
        yield
    finally:
        _condition.reset(token)


def set_step(step: Any) -> None:
    """Say the step of summaries that are told none.

    Args:
        step: an integer or a variable; None for none.
    """
    recording.default_step.set(step)


def get_step() -> Any:
    """The step of `set_step` or ``writer.as_default(step=...)``.

    Returns:
        The step; None if none was said.

    >>> set_step(3)
    >>> get_step()
    3
    >>> set_step(None)
    """
    return recording.default_step.get()


def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing.

    Returns:
        The writer.
    """
    return SummaryWriter(None)


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """Write a number, where a writer is the default.

    Args:
        name: the tag, after the name scope.
        data: a real number or a tensor of shape ``()``.
        step: the step; None for what `set_step` said.
        description: not written.

    Returns:
        Whether it was recorded.

    Raises:
        ValueError: there is no step.
        InvalidArgumentError: ``data`` is not one real number.

    >>> scalar("loss", 0.5, step=1)
    False
    """
    return _recorded("scalar", step, lambda chosen: summaries.scalar(name, data, step=chosen))


def histogram(
    name: str, data: Any, step: Any = None, buckets: int | None = None, description: str | None = None
) -> bool:
    """Write how often numbers are how large. Arguments: see `scalar`; ``data`` is a tensor of real numbers.

    >>> histogram("weights", [0.5, 1.5], step=1)
    False
    """
    return _recorded("histogram", step, lambda chosen: summaries.histogram(name, data, step=chosen))


def image(name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None) -> bool:
    """Write pictures. Arguments: see `scalar`; ``data`` is of shape (pictures, height, width, channels).

    Floats are from 0 to 1, and integers from 0 to 255; of more than ``max_outputs`` pictures the first are written.

    >>> image("digits", [[[[0.5]]]], step=1)
    False
    """

    def write_pictures(chosen: Any) -> None:
        from agog_core import cast, clip_by_value, convert_to_tensor

        pictures = convert_to_tensor(data)
        if pictures.dtype.is_floating:
            pictures = cast(clip_by_value(pictures, 0.0, 1.0) * 255.0 + 0.5, "uint8")
        summaries.image(name, pictures, max_images=max_outputs, step=chosen)

    return _recorded("image", step, write_pictures)


def audio(
    name: str,
    data: Any,
    sample_rate: int,
    step: Any = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> bool:
    """Write sounds. Arguments: see `scalar`; ``data`` is of shape (sounds, frames, channels), from -1 to 1.

    >>> audio("beep", [[[0.5], [-0.5]]], 8000, step=1)
    False
    """
    return _recorded(
        "audio", step, lambda chosen: summaries.audio(name, data, sample_rate, max_outputs=max_outputs, step=chosen)
    )


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """Write strings. Arguments: see `scalar`; ``data`` is a tensor of strings.

    >>> text("note", "it works", step=1)
    False
    """
    return _recorded("text", step, lambda chosen: summaries.text(name, data, step=chosen))


def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> bool:
    """Write a tensor. Arguments: see `scalar`; ``metadata`` is a ``SummaryMetadata`` message, or None.

    >>> write("numbers", [1.0, 2.0], step=1)
    False
    """
    return _recorded("write", step, lambda chosen: summaries.generic(tag, tensor, metadata, step=chosen))


def _recorded(function: str, step: Any, record: Callable[[Any], None]) -> bool:
    """Record where there is a writer and no condition against it; tell whether it was so."""
    is_traced = bool(tracing) and present_tracer() is not None
    if default_event_file() is None or not (is_traced or should_record_summaries()):
        return False

    def present_step() -> int:
        chosen = get_step()
        if chosen is None:
            raise ValueError(
                f"tf.summary.{function}: there is no step; give step=..., or say it once with "
                "tf.summary.experimental.set_step(step) or writer.as_default(step=step)."
            )
        return int(chosen)

    condition = _condition.get()
    policy = (lambda: bool(condition() if callable(condition) else condition)) if is_traced else recording.always
    with recording.recording(policy):
        record(operand(late(present_step), int64) if step is None else step)
    return True
