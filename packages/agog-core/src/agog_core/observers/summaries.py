"""Summaries: the registry for the package of summaries, through which metrics write."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol


class Summaries(Protocol):
    """The interface of a package of summaries, for metrics."""

    def scalar(self, name: str, tensor: Any) -> None:
        """Write a number, where a writer is the default and a policy records.

        Args:
            name: the tag.
            tensor: the number.
        """

    def recorded_in(self, logdir: str) -> AbstractContextManager[None]:
        """Write all summaries inside to a new file.

        Args:
            logdir: the folder of the file.

        Returns:
            A context manager.
        """


# The package that writes summaries, which registers when it is imported.
_summaries: Summaries | None = None


def register_summaries(summaries: Summaries) -> None:
    """Let metrics write summaries from here on."""
    global _summaries
    _summaries = summaries


def registered_summaries() -> Summaries | None:
    """The registered package, or None if no package of summaries is imported."""
    return _summaries
