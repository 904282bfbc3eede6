"""Regular files: a check against others, such as pipes, which would block a reader for ever."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO, cast

from agog_core.files import is_url, local_file, open_file


def open_regular(path: str) -> BinaryIO:
    """Open a regular file, or a link to one, to read it. Raises OSError if it is something else."""
    if is_url(path):
        return cast(BinaryIO, open_file(path, "rb"))
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return open(path, "rb")


def open_local(path: str) -> BinaryIO:
    """Open a regular file to map it; at a URL, a copy on this machine. Raises OSError if it is something else."""
    return local_file(path) if is_url(path) else open_regular(path)
