"""Told: warnings about names of files, once per program."""

from __future__ import annotations

import warnings

from agog_checkpoint.warning import CheckpointWarning

# The functions that have warned of the names of their files.
functions: set[str] = set()


def tell_of_format(function: str, text: str) -> None:
    """Warn of what a function writes under a name of another format, unless it has; in the line that calls it."""
    if function not in functions:
        functions.add(function)
        warnings.warn(f"{function}: {text} Further files are not told of.", CheckpointWarning, stacklevel=4)
