"""Tar archives: their headers, one after the other."""

from __future__ import annotations

import tarfile
from typing import Any


class TarArchive(tarfile.TarFile):
    """Reads headers one after the other; tarfile takes a broken one for the end, and keeps all that it has read."""

    firstmember: tarfile.TarInfo | None

    def __init__(self, fileobj: Any) -> None:
        super().__init__(fileobj=fileobj, errors="surrogateescape")

    def next(self) -> tarfile.TarInfo | None:
        """The next member, or None after the last. It never goes back, which would decompress everything again."""
        if self.firstmember is not None:  # the base class has read it
            member, self.firstmember = self.firstmember, None
            return member
        assert self.fileobj is not None
        self.fileobj.seek(self.offset)
        try:
            found: tarfile.TarInfo = self.tarinfo.fromtarfile(self)
            return found
        except tarfile.EmptyHeaderError:  # type: ignore[attr-defined]  # typeshed leaves these out
            raise tarfile.HeaderError("the blocks that end it are missing") from None
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            return None
