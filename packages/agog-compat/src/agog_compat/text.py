"""Text: conversions of strings and bytes, as in ``tf.compat``."""

from __future__ import annotations

from typing import Any

from agog_core.calls.docstrings import documented_like

__all__ = ["as_bytes", "as_str_any", "as_text"]


def as_bytes(bytes_or_text: str | bytes, encoding: str = "utf-8") -> bytes:
    """Encode a string, if it is not bytes already.

    Args:
        bytes_or_text: a string or bytes.
        encoding: the encoding.

    Returns:
        Bytes.

    Raises:
        TypeError: it is something else.

    >>> as_bytes("a"), as_bytes(b"a")
    (b'a', b'a')
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"as_bytes: expected str or bytes; got {bytes_or_text!r} of type {type(bytes_or_text).__name__}.")


@documented_like(as_bytes)
def as_text(bytes_or_text: str | bytes, encoding: str = "utf-8") -> str:
    """Decode bytes, if they are not a string already.

    Returns:
        A string.

    >>> as_text("a"), as_text(b"a")
    ('a', 'a')
    """
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    raise TypeError(f"as_text: expected str or bytes; got {bytes_or_text!r} of type {type(bytes_or_text).__name__}.")


def as_str_any(value: Any) -> str:
    """Anything as a string.

    Args:
        value: bytes, which are decoded, or anything else.

    Returns:
        A string.

    >>> as_str_any(b"a"), as_str_any(3)
    ('a', '3')
    """
    return as_text(value) if isinstance(value, bytes) else str(value)
