"""Interrupts: the points where CPython handles a Ctrl-C, and a guard against them."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_RESUME = dis.opmap.get("RESUME")
_AFTER_YIELD_FROM = 2  # CPython looks for signals at a `RESUME` of a smaller argument only


def begins_in_peace(function: F) -> F:
    """Let a function come to its first call before a Ctrl-C can end it; others can be ended before they begin.

    This is for ``__exit__``: whatever it does, a Ctrl-C at its beginning leaves done what it was to undo.
    """
    changed: Any = function
    code = changed.__code__
    words = bytearray(code.co_code)
    for at in range(0, min(len(words), 16), 2):
        if words[at] == _RESUME:
            words[at + 1] = _AFTER_YIELD_FROM
            changed.__code__ = code.replace(co_code=bytes(words))
            break
    return function
