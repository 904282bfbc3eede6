"""Compact JSON, without spaces. Python's module is imported lazily, because its import takes milliseconds."""

from __future__ import annotations

from typing import Any


def dump(value: Any, ensure_ascii: bool = True) -> str:
    """Write a value as JSON.

    ``ensure_ascii`` escapes characters beyond ASCII; those that no encoding holds must be. Raises TypeError if JSON
    cannot hold the value, and ValueError if it contains itself.

    >>> dump({"a": [1, None]})
    '{"a":[1,null]}'
    """
    import json

    return json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":"))


def load(text: str) -> Any:
    """Read a value from JSON.

    Raises ValueError if the text is no JSON, and RecursionError if it is nested too deeply.

    >>> load('{"a":[1,null]}')
    {'a': [1, None]}
    """
    import json

    return json.loads(text)
