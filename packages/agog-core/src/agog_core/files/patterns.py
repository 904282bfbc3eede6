"""Patterns: files whose paths match."""

from __future__ import annotations

from typing import Any

from agog_core.files.paths import file_path, is_url

__all__ = ["find"]


def find(filename: Any) -> list[str]:
    """The files whose paths match a pattern, or one of several.

    Args:
        filename: a pattern with ``*``, ``?`` and ``[...]``, or a list of patterns.

    Returns:
        Paths, sorted for each pattern.

    Raises:
        InvalidArgumentError: a pattern holds a NUL character.
        UnimplementedError: it is a URL of a file system that is not installed.
    """
    import glob  # here, because its import takes milliseconds

    patterns = filename if isinstance(filename, (list, tuple)) else [filename]
    paths = [file_path("Glob", pattern) for pattern in patterns]
    return [found for path in paths for found in sorted(_at_url(path) if is_url(path) else glob.glob(path))]


def _at_url(pattern: str) -> list[str]:
    from agog_core.files.stores import matching

    return matching(pattern)
