"""Errors: an assertion that a block raises an error, with its whole text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

__all__ = ["says"]

E = TypeVar("E", bound=BaseException)


@contextmanager
def says(error: type[E] | tuple[type[E], ...], text: str) -> Iterator[pytest.ExceptionInfo[E]]:
    """Expect that a block raises an error with this text.

    Args:
        error: the error's class, or several of which one is expected.
        text: what ``str`` makes of the error, whole.

    Returns:
        A context manager with pytest's ``ExceptionInfo``; its ``value`` is the error after the block.

    Raises:
        AssertionError: the error has another text.
        pytest.fail.Exception: the block raises nothing. An error of another class goes on as it is.

    >>> import agog_core as ag
    >>> with says(
    ...     ag.errors.InvalidArgumentError, "reshape: a tensor of shape (2,) has 2 elements; shape (3,) would have 3."
    ... ):
    ...     ag.reshape([1.0, 2.0], [3])
    """
    __tracebackhide__ = True
    with pytest.raises(error) as caught:
        yield caught
    if (said := str(caught.value)) != text:
        raise AssertionError(f"{type(caught.value).__name__} says\n  {said!r}\nand should say\n  {text!r}")
