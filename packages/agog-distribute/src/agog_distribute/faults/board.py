"""Board: a page for each process of a machine, on which it says what it does; the others quote it in their errors."""

from __future__ import annotations

import mmap
import tempfile

_PAGE = 1024  # bytes


class Board:
    """Memory that the processes of a machine share, by a file that is removed once all have opened it.

    Args:
        path: the file, from `new_board`.
        pages: how many processes share it.
        own: the page of this one.
    """

    def __init__(self, path: str, pages: int, own: int) -> None:
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), pages * _PAGE)
        self._own = own

    def write(self, text: str) -> None:
        """Say what this process does, on one line."""
        content = text.encode()[: _PAGE - 1] + b"\n"
        self._memory[self._own * _PAGE : self._own * _PAGE + len(content)] = content

    def read(self, page: int) -> str:
        """What another process has said last."""
        content = self._memory[page * _PAGE : (page + 1) * _PAGE]
        return content.partition(b"\n")[0].decode(errors="replace")


def new_board(pages: int) -> str:
    """Make the file of a board, and give its path."""
    with tempfile.NamedTemporaryFile("wb", prefix="agog-distribute-", delete=False) as file:
        file.write(b"\n".ljust(_PAGE, b"\0") * pages)
    return file.name
