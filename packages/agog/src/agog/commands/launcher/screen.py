"""Screen: the lines of all ranks, each behind its rank, and the progress bar of rank 0."""

from __future__ import annotations

import re
from typing import IO

_CLEAR = "\r\x1b[K"
# What agog's processes say before they end the others.
_VERDICT = re.compile(r"Rank \d+ .*ends all processes")


class Screen:
    """Writes lines whole, whatever pieces they come in. A bar is a line that is written anew behind each ``\\r``.

    Bars of other ranks than 0 are left out; in a file only the last state of a bar is kept.

    Args:
        size: how many ranks there are.
        output: where their output goes.
        errors: where their errors go.
    """

    def __init__(self, size: int, output: IO[str], errors: IO[str]) -> None:
        self._width = len(str(size - 1))
        self._streams = {"stdout": output, "stderr": errors}
        self._rests: dict[tuple[int, str], str] = {}
        self._bar = ""
        self.last_words: dict[int, str] = {}
        """The last line of errors of each rank, or that in which it says why it ends all."""
        self.verdict: str | None = None
        """The first such line of any rank."""

    def write(self, rank: int, stream: str, text: str) -> None:
        """Write a piece of what a rank writes."""
        *lines, rest = (self._rests.get((rank, stream), "") + text).split("\n")
        for line in lines:
            self._line(rank, stream, line.removesuffix("\r"))
        self._rests[rank, stream] = rest
        if rank == 0 and "\r" in rest and self._streams[stream].isatty():
            self._draw(stream, f"{self._prefix(rank)}{rest.rstrip().rpartition(chr(13))[2]}")

    def end(self, rank: int) -> None:
        """Write what a rank has left without an end of line."""
        for stream in self._streams:
            if self._rests.get((rank, stream)):
                self.write(rank, stream, "\n")

    def say(self, text: str) -> None:
        """Write a line of the launcher's own."""
        self._put("stderr", text, self._bar)

    def _line(self, rank: int, stream: str, line: str) -> None:
        is_bar = "\r" in line
        if is_bar and rank:
            return
        line = line.rpartition("\r")[2]
        if stream == "stderr" and line.strip():
            self._hear(rank, line.strip())
        self._put(stream, f"{self._prefix(rank)}{line}", "" if is_bar else self._bar)

    def _hear(self, rank: int, line: str) -> None:
        if _VERDICT.match(line):
            self.verdict = self.verdict or line
        elif _VERDICT.match(self.last_words.get(rank, "")):  # the engine has its own words after these
            return
        self.last_words[rank] = line

    def _put(self, stream: str, line: str, bar: str) -> None:
        """Write a line above the bar."""
        target = self._streams[stream]
        clear = _CLEAR if self._bar else ""
        target.write(f"{clear}{line}\n{bar}" if target.isatty() else f"{line}\n")
        target.flush()
        self._bar = bar

    def _draw(self, stream: str, bar: str) -> None:
        self._bar = bar
        self._streams[stream].write(f"{_CLEAR}{bar}")
        self._streams[stream].flush()

    def _prefix(self, rank: int) -> str:
        return f"[{rank:>{self._width}}] "
