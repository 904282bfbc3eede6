"""Agreement: before each collective, whether all members of the group are about to do the same.

A collective that one process calls with another shape, or in another order, gives wrong numbers, or none for ever. So
all compare a number first, which depends on the op, its attributes, the dtype, the shape and the line of the program.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from agog_core.errors import AbortedError
from agog_distribute.faults.deadline import Waiting
from agog_distribute.faults.place import Place, line_of_program

if TYPE_CHECKING:
    from agog_distribute.processes.groups import Group


class Step(NamedTuple):
    """What a process is about to do: which collective of its group, with what array, in which line of the program.

    It becomes a text where somebody reads it, since most steps end before.
    """

    what: str
    dtype: Any
    shape: tuple[int, ...]
    place: Place | None
    number: int

    def __str__(self) -> str:
        return self.text_at(self.place)

    @property
    def in_all(self) -> str:
        """Its text without the folder of the program, which may be another one on another machine."""
        return self.text_at(self.place and (os.path.basename(self.place[0]), self.place[1]))

    def text_at(self, place: Place | None) -> str:
        """Its text, with a line of the program."""
        of = "" if self.dtype is None else f" of {self.dtype} {self.shape}"
        at = "" if place is None else f", at {place[0]}:{place[1]}"
        return f"{self.what}{of}, the {_ordinal(self.number)} collective{at}"


def agree(group: Group, what: str, array: Any | None = None, place: Place | None = None) -> None:
    """Go on where all members of a group are about to do the same.

    Raises:
        AbortedError: they are not; it names what each is about to do, on all of them.
    """
    if group.size > 1:
        dtype, shape = (None, ()) if array is None else (array.dtype, array.shape)
        _texts(group, _step(group, what, dtype, shape, place or line_of_program()))


def texts_of(group: Group, what: str, text: str, place: Place | None = None) -> list[str]:
    """The texts of all members of a group, which are about to do the same; equal ones are not sent.

    Raises:
        AbortedError: they are not about to do the same.
    """
    return _texts(group, _step(group, what, None, (), place or line_of_program()), text)


def agree_on_end(group: Group) -> None:
    """Go on where all processes are about to end. Raises AbortedError, on all of them, where others go on."""
    _texts(group, _step(group, "end of the program", None, (), None), may_last=True)


def _step(group: Group, what: str, dtype: Any, shape: tuple[int, ...], place: Place | None) -> Step:
    group.count += 1
    return Step(what, dtype, shape, place, group.count)


def _texts(group: Group, step: Step, text: str = "", may_last: bool = False) -> list[str]:
    digest = (_digest(*step[:-1]) + step.number * _ODD + (_digest_of(text) if text else 0)) % 2**63
    with Waiting(step, may_last):
        if group.communicator.agree(digest):
            return [text] * group.size
        messages = group.communicator.exchange(f"{step.in_all}\0{step}\0{text}".encode())
    steps, places, texts = zip(*(message.decode().split("\0") for message in messages), strict=True)
    if len(set(steps)) > 1:
        raise AbortedError(f"{step.what}: the processes are not about to do the same:\n{by_rank(group, places)}")
    return list(texts)


# Odd, so that steps whose numbers alone differ have unlike digests.
_ODD = 0x9E3779B97F4A7C15


@lru_cache(1024)
def _digest(what: str, dtype: Any, shape: tuple[int, ...], place: Place | None) -> int:
    """A digest of what a step of a loop has in common with those before."""
    return _digest_of(Step(what, dtype, shape, place, 0).in_all)


def _digest_of(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


def by_rank(group: Group, texts: Iterable[str]) -> str:
    """A line for each member, with its rank."""
    return "\n".join(f"  rank {rank}: {text}" for rank, text in zip(group.ranks, texts, strict=True))


def _ordinal(count: int) -> str:
    ending = "th" if count % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"
