"""Wording: names, sizes and counts as a terminal gets them."""

from __future__ import annotations


def shown(text: str) -> str:
    """A name, or a line with names, as a terminal may get it: what cannot be printed is escaped as Python does it."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def size(count: int) -> str:
    """So many bytes, in units that make three digits of them."""
    number = float(count)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.4g} GB"


def counted(count: int, noun: str) -> str:
    """So many things, with the plural of their noun where they are not one."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
