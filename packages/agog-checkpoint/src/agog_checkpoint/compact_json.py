"""JSON without spaces. Python's module is imported on first use, because its import takes milliseconds."""

from __future__ import annotations

from typing import Any


def dump(value: Any, ensure_ascii: bool = True) -> str:
    """Write a value as JSON.

    Args:
        value: a value that JSON can hold.
        ensure_ascii: whether characters beyond ASCII are escaped; those that no encoding holds must be.

    Returns:
        The text.

    Raises:
        TypeError: JSON cannot hold the value.
        ValueError: the value contains itself.

    >>> dump({"a": [1, None]})
    '{"a":[1,null]}'
    """
    import json

    return json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":"))


def load(text: str) -> Any:
    """Read a value from JSON.

    Args:
        text: the text.

    Returns:
        The value.

    Raises:
        ValueError: the text is no JSON.
        RecursionError: it is nested too deeply.

    >>> load('{"a":[1,null]}')
    {'a': [1, None]}
    """
    import json

    return json.loads(text)
