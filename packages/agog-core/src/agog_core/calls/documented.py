"""Documented: shared parts of docstrings, said once."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def documented(sections: str, **words: str) -> Callable[[F], F]:
    """Put sections that several functions share, such as Args and Returns, into a docstring, before its example.

    ``{word}`` in the sections stands for what is given for it here.
    """

    def decorate(function: F) -> F:
        if function.__doc__:  # python -OO takes docstrings away
            sentence, prompt, example = _cleaned(function.__doc__).partition("\n>>> ")
            shared = _cleaned(sections).format(**words)
            function.__doc__ = f"{sentence.rstrip()}\n\n{shared}\n{prompt}{example}"
        return function

    return decorate


def _cleaned(text: str) -> str:
    """A docstring without indentation; `inspect` does it too, and takes milliseconds to import."""
    first, _, rest = text.partition("\n")
    return f"{first}\n{dedent(rest)}".strip()
