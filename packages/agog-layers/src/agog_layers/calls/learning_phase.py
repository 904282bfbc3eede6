"""Learning phase: the default of ``training`` for calls without it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agog_core.settings import Setting

__all__ = ["in_test_phase", "in_train_phase", "learning_phase", "learning_phase_scope", "set_learning_phase", "trains"]

# 1 while layers train that no call tells it, in this thread or task.
_phase = Setting("agog_learning_phase", 0)


def learning_phase() -> int:
    """Whether layers train where a call does not say it.

    Returns:
        0, or what `set_learning_phase` was told; 1 inside a step of ``fit``.

    >>> learning_phase()
    0
    """
    return _phase.get()


def set_learning_phase(value: int) -> None:
    """Say whether layers train where a call does not say it, in this thread or task.

    Args:
        value: 1 or 0.

    Raises:
        ValueError: it is something else.

    >>> set_learning_phase(1)
    >>> learning_phase()
    1
    >>> set_learning_phase(0)
    """
    _phase.set(_checked("set_learning_phase", value))


@contextmanager
def learning_phase_scope(value: int) -> Iterator[int]:
    """Say inside a ``with`` block whether layers train where a call does not say it. See `set_learning_phase`."""
    token = _phase.set(_checked("learning_phase_scope", value))
    try:
        yield _phase.get()
    finally:
        _phase.reset(token)


def _checked(what: str, value: Any) -> int:
    if value not in (0, 1):
        raise ValueError(f"{what}: value must be 0 or 1, which stand for inference and training; got {value!r}.")
    return int(value)


def trains(training: Any) -> Any:
    """The argument ``training`` of a call, or the learning phase if that is None.

    >>> trains(None), trains(True)
    (0, True)
    """
    return _phase.get() if training is None else training


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """One of two values: the first while training.

    Args:
        x: a value, or a function without arguments that returns it.
        alt: the other one.
        training: whether it is training; None for `learning_phase`.

    Returns:
        The value.

    >>> in_train_phase(1.0, 2.0, training=True), in_train_phase(1.0, lambda: 2.0)
    (1.0, 2.0)
    """
    chosen = x if trains(training) else alt
    return chosen() if callable(chosen) else chosen


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """One of two values: the second while training. See `in_train_phase`."""
    return in_train_phase(alt, x, training)
