"""Guarantees: what stores promise of one request, by which files are replaced where there is no rename."""

from __future__ import annotations

from typing import NamedTuple


class Guarantees(NamedTuple):
    """What a store promises.

    Args:
        puts_whole: whether others see a file that is put as it was, or whole as it is then.
        creates_new: whether a file can be put only if there is none.
        replaces_same: whether one can be put only if it has not changed.
    """

    puts_whole: bool = False
    creates_new: bool = False
    replaces_same: bool = False


# By the first scheme of a store that is known: S3 by If-None-Match and If-Match, Google's by ifGenerationMatch. What
# adlfs tells of conditions is an option of its own. In memory no other process sees anything.
_KNOWN = {
    "s3": Guarantees(True, True, True),
    "gs": Guarantees(True, True),
    "abfs": Guarantees(True),
    "memory": Guarantees(True, True),
}


def guarantees(schemes: set[str]) -> Guarantees:
    """What a store of these schemes promises: nothing if it is unknown.

    >>> guarantees({"s3", "s3a"}).replaces_same, guarantees({"sftp"}).puts_whole
    (True, False)
    """
    return next((found for scheme, found in _KNOWN.items() if scheme in schemes), Guarantees())
