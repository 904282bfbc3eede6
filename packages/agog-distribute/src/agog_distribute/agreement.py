"""Agreement: before each collective, whether all members of the group are about to do the same.

A collective that one process calls with another shape, or in another order, gives wrong numbers, or none for ever. So
all compare a number first, which depends on the op, its attributes, the dtype, the shape and the line of the program.
"""

from __future__ import annotations

import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

from agog_core.errors import AbortedError
from agog_distribute.groups import Group

_OWN = (str(Path(__file__).parent), str(Path(sys.modules["agog_core"].__file__ or "").parent))


Place = tuple[str, int]
"""A file and a line of it."""


def agree(group: Group, what: str, array: Any | None = None, place: Place | None = None) -> None:
    """Go on where all members of a group are about to do the same.

    Raises:
        AbortedError: they are not; it names what each is about to do, on all of them.
    """
    if group.size == 1:
        return
    group.count += 1
    of = "" if array is None else f" of {array.dtype} {tuple(array.shape)}"
    file, line = place or line_of_program()
    begin = f"{what}{of}, the {_ordinal(group.count)} collective, at "
    # Without the folder, which may be another one on another machine.
    number = int.from_bytes(blake2b(f"{begin}{Path(file).name}:{line}".encode(), digest_size=8).digest()) >> 1
    if group.communicator.agree(number):
        return
    texts = [message.decode() for message in group.communicator.exchange(f"{begin}{file}:{line}".encode())]
    lines = "\n".join(f"  rank {rank}: {each}" for rank, each in zip(group.ranks, texts, strict=True))
    raise AbortedError(f"{what}: the processes are not about to do the same:\n{lines}")


def line_of_program() -> Place:
    """The file and the line outside agog that led here."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _ordinal(count: int) -> str:
    ending = "th" if count % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"
