"""Agreement: before each collective, whether all members of the group are about to do the same.

A collective that one process calls with another shape, or in another order, gives wrong numbers, or none for ever. So
all compare a number first, which depends on the op, its attributes, the dtype, the shape and the line of the program.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from agog_core.errors import AbortedError
from agog_distribute.faults.deadline import Waiting
from agog_distribute.faults.place import Place, line_of_program

if TYPE_CHECKING:
    from agog_distribute.processes.groups import Group


def agree(group: Group, what: str, array: Any | None = None, place: Place | None = None) -> None:
    """Go on where all members of a group are about to do the same.

    Raises:
        AbortedError: they are not; it names what each is about to do, on all of them.
    """
    if group.size > 1:
        of = "" if array is None else f" of {array.dtype} {tuple(array.shape)}"
        _texts(group, what, f"{what}{of}", place or line_of_program())


def texts_of(group: Group, what: str, text: str, place: Place | None = None) -> list[str]:
    """The texts of all members of a group, which are about to do the same; equal ones are not sent.

    Raises:
        AbortedError: they are not about to do the same.
    """
    return _texts(group, what, what, place or line_of_program(), text)


def agree_on_end(group: Group) -> None:
    """Go on where all processes are about to end. Raises AbortedError, on all of them, where others go on."""
    _texts(group, "end of the program", "end of the program", None, may_last=True)


def _texts(
    group: Group, name: str, what: str, place: Place | None, text: str = "", may_last: bool = False
) -> list[str]:
    group.count += 1
    begin = f"{what}, the {_ordinal(group.count)} collective"
    file, line = place or ("", 0)
    # Without the folder, which may be another one on another machine.
    step, full = (f"{begin}, at {each}:{line}" if place else begin for each in (os.path.basename(file), file))
    number = int.from_bytes(blake2b(f"{step}\0{text}".encode(), digest_size=8).digest()) >> 1
    with Waiting(full, may_last):
        if group.communicator.agree(number):
            return [text] * group.size
        messages = group.communicator.exchange(f"{step}\0{full}\0{text}".encode())
    steps, places, texts = zip(*(message.decode().split("\0") for message in messages), strict=True)
    if len(set(steps)) > 1:
        raise AbortedError(f"{name}: the processes are not about to do the same:\n{by_rank(group, places)}")
    return list(texts)


def by_rank(group: Group, texts: Iterable[str]) -> str:
    """A line for each member, with its rank."""
    return "\n".join(f"  rank {rank}: {text}" for rank, text in zip(group.ranks, texts, strict=True))


def _ordinal(count: int) -> str:
    ending = "th" if count % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"
