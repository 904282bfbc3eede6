"""Regular files: a check against others, such as pipes, which would block a reader for ever."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO


def open_regular(path: str) -> BinaryIO:
    """Open a regular file, or a link to one, to read it. Raises OSError if it is something else."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return open(path, "rb")
