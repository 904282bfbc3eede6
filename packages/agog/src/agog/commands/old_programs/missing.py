"""Missing: what a program asked for that agog has not, and how often."""

from __future__ import annotations

from collections import Counter

# How often the program asked for each name that is missing.
_counts: Counter[str] = Counter()
# What the error said, by the same names.
_advice: dict[str, str] = {}


def note(name: str, advice: str) -> None:
    """Count one question for a name that is missing, and keep what its error says."""
    _counts[name] += 1
    _advice[name] = advice


def report() -> str:
    """The missing names, the one asked for most often first, each with its count and what its error says."""
    if not _counts:
        return "agog run: the program asked for nothing that agog has not."
    lines = [
        f"{count:>6}  {name}: {_advice[name]}"
        for name, count in sorted(_counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return "\n".join([f"agog run: the program asked for {len(lines)} names that agog has not:", *lines])
