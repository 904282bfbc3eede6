"""Forks: detection of a fork since an iterator started threads or processes."""

from __future__ import annotations

import os


class Forks:
    """Counts how many times a process was forked between the program's first one and this one."""

    count = 0

    @classmethod
    def add(cls) -> None:
        """Count one, in the new process."""
        cls.count += 1

    @classmethod
    def check(cls, before: int) -> None:
        """Raise RuntimeError if this is another process than at that count: nobody works in it, and a loop would
        wait for ever."""
        if cls.count != before:
            raise RuntimeError(
                "This iterator's threads or processes work for the process that began to iterate, not for one that was "
                "forked from it. Make an iterator in each process; state_dict() and load_state_dict() hand over the "
                "place."
            )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Forks.add)
