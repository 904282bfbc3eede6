"""Summary: how each rank has ended, and why."""

from __future__ import annotations

import signal
from collections.abc import Iterator

from agog.commands.launcher.attempt import Attempt, End
from agog.commands.launcher.screen import Screen

TITLES = ("rank", "end", "seconds", "last words")
_WITH_OTHERS = "ended with the others"


def summary(attempt: Attempt, screen: Screen) -> Iterator[tuple[str, str, str, str]]:
    """A row for each rank."""
    ends = {end.rank: end for end in attempt.ends}
    for rank in range(attempt.size):
        words = screen.last_words.get(rank, "")
        if rank not in ends:
            yield str(rank), "no end is known", "", words
            continue
        # Where a rank ends all, the engine gives any of them an exit status, and kills some.
        how = how_it_ended(ends[rank]) if screen.verdict is None else _WITH_OTHERS
        if words and words == screen.verdict:
            how = "ended the others"
        yield str(rank), how, f"{ends[rank].seconds:.1f}", words if how != _WITH_OTHERS else ""


def how_it_ended(end: End) -> str:
    """How a rank has ended, in words."""
    if end.status is None:
        return _WITH_OTHERS
    return f"killed by {signal.Signals(-end.status).name}" if end.status < 0 else f"exit status {end.status}"


def cause(attempt: Attempt, screen: Screen) -> str:
    """Why the run has ended: what a rank has said of it, or else the first bad end."""
    first = attempt.first
    if attempt.is_interrupted:
        return "Ctrl-C has ended all ranks."
    if screen.verdict is not None:
        return screen.verdict
    if first is None:
        return f"The {attempt.size} ranks did not all start, or mpiexec has failed."
    return f"Rank {first.rank} has ended the others after {first.seconds:.1f} s: {how_it_ended(first)}."
