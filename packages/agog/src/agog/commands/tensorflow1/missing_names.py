"""Missing names: a count of the missing names that a program and its child processes asked for."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# The environment's name for the file of notes. Processes inherit it, so that those of children come together in one.
_NOTES = "AGOG_RUN_NOTES"


def note(name: str, advice: str) -> None:
    """Note one question for a name that is missing, and what its error says, where a report is wanted."""
    path = os.environ.get(_NOTES)
    if path is not None:
        with suppress(OSError):  # the run that wanted the report is over
            file = os.open(path, os.O_WRONLY | os.O_APPEND)
            try:
                line = json.dumps([name, advice.removeprefix(f"{name}: ")])
                os.write(file, f"{line}\n".encode())  # at once, as other processes write too
            finally:
                os.close(file)


@contextmanager
def reported() -> Iterator[None]:
    """Print a report to stderr at the end, of what this process and those that it starts miss meanwhile."""
    outer = os.environ.get(_NOTES)
    file, path = tempfile.mkstemp(prefix="agog-run-")
    os.close(file)
    os.environ[_NOTES] = path
    try:
        yield
    finally:
        with open(path, encoding="utf-8") as stream:
            notes = [tuple(json.loads(line)) for line in stream]
        os.remove(path)
        del os.environ[_NOTES]
        if outer is not None:  # a run inside of a run that reports too
            os.environ[_NOTES] = outer
            for each in notes:
                note(*each)
        print(report(notes), file=sys.stderr)


def report(notes: list[tuple[str, str]]) -> str:
    """The missing names, the one asked for most often first, each with its count and what its error says."""
    if not notes:
        return "agog run: the program asked for nothing that agog has not."
    advice, counts = dict(notes), Counter(name for name, _ in notes)
    lines = [
        f"{count:>6}  {name}: {advice[name]}"
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return "\n".join([f"agog run: the program asked for {len(lines)} names that agog has not:", *lines])
