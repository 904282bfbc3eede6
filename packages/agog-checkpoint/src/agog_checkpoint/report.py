"""Report: the matched and unmatched values of a restore."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from agog_checkpoint.matches import Matches
from agog_checkpoint.name_list import name_list
from agog_checkpoint.waiting_list import WaitingList
from agog_checkpoint.warning import CheckpointWarning


class Report(NamedTuple):
    """The keys of matched values, of waiting ones, and of those that can no longer be matched."""

    matched: list[str]
    deferred: list[str]
    unmatched: list[str]


def report_of(matches: Matches, waiting: WaitingList) -> Report:
    """The current state of the values."""
    awaited = waiting.awaited()
    matched, deferred, unmatched = report = Report([], [], [])
    for number, label in matches.labels.items():
        waits = number in awaited and number not in matches.rejected
        (matched if number in matches.matched else deferred if waits else unmatched).append(label)
    return report


class UnclaimedValues:
    """The values without an object, and which of them an error or a warning has named."""

    def __init__(self, path: str, matches: Matches) -> None:
        self._path = path
        self._matches = matches
        self._named: set[int] = set()

    def name_all(self) -> None:
        """Note that an error has named all of them, so no warning is needed."""
        self._named.update(self._matches.labels)

    def warn(self) -> None:
        """Warn of them, once of each."""
        matches = self._matches
        unnamed = [n for n in matches.labels if not matches.is_settled(n) and n not in self._named]
        if unnamed:
            self._named.update(unnamed)
            keys = name_list(repr(matches.labels[number]) for number in unnamed)
            text = f"Checkpoint {self._path!r} has values that no object of the program has asked for: {keys}."
            warnings.warn(text, CheckpointWarning, stacklevel=2)
