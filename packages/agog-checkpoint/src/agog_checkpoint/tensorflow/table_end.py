"""Table end: the footer of a table, by which its file is told from others."""

from __future__ import annotations

import os
import struct
from contextlib import suppress

from agog_checkpoint.regular_file import open_regular

MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
FOOTER_SIZE = 48


def ends_as_table(path: str) -> bool:
    """Whether there is a file that ends as a table does."""
    with suppress(OSError), open_regular(path) as stream:
        if stream.seek(0, os.SEEK_END) >= FOOTER_SIZE:
            stream.seek(-len(MAGIC), os.SEEK_END)
            return stream.read() == MAGIC
    return False
