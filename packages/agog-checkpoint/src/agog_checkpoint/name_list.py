"""Lists of names in messages."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 20


def name_list(names: Iterable[str], empty: str = "none") -> str:
    """List names on one line: all of a few, or the first of many; ``empty`` if there are none.

    >>> name_list(["a", "b"]), name_list([])
    ('a, b', 'none')
    >>> name_list(map(str, range(1000)))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, and 980 more'
    """
    every = list(names)
    more = [f"and {len(every) - _MOST} more"] if len(every) > _MOST else []
    return ", ".join([*every[:_MOST], *more]) or empty
