"""Agreement: before each collective, whether all members of the group are about to do the same.

A collective that one process calls with another shape, or in another order, gives wrong numbers, or none for ever. So
all compare a number first, which depends on the op, its attributes, the dtype, the shape and the line of the program.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agog_core.errors import AbortedError
from agog_distribute.deadline import Waiting
from agog_distribute.place import Place, line_of_program

if TYPE_CHECKING:
    from agog_distribute.groups import Group


def agree(group: Group, what: str, array: Any | None = None, place: Place | None = None) -> None:
    """Go on where all members of a group are about to do the same.

    Raises:
        AbortedError: they are not; it names what each is about to do, on all of them.
    """
    if group.size == 1:
        return
    of = "" if array is None else f" of {array.dtype} {tuple(array.shape)}"
    file, line = place or line_of_program()
    # Without the folder, which may be another one on another machine.
    _agree(group, what, f"{what}{of}", f", at {Path(file).name}:{line}", f", at {file}:{line}")


def agree_on_end(group: Group) -> None:
    """Go on where all processes are about to end. Raises AbortedError, on all of them, where others go on."""
    _agree(group, "end of the program", "end of the program", "", "", may_last=True)


def _agree(group: Group, name: str, what: str, place: str, full_place: str, may_last: bool = False) -> None:
    group.count += 1
    begin = f"{what}, the {_ordinal(group.count)} collective"
    number = int.from_bytes(blake2b(f"{begin}{place}".encode(), digest_size=8).digest()) >> 1
    text = f"{begin}{full_place}"
    with Waiting(text, may_last):
        if group.communicator.agree(number):
            return
        texts = [message.decode() for message in group.communicator.exchange(text.encode())]
    lines = "\n".join(f"  rank {rank}: {each}" for rank, each in zip(group.ranks, texts, strict=True))
    raise AbortedError(f"{name}: the processes are not about to do the same:\n{lines}")


def _ordinal(count: int) -> str:
    ending = "th" if count % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"
