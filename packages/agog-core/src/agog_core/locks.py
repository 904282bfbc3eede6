"""Locks: locks that survive a fork."""

from __future__ import annotations

import os
from typing import Any


def hold_while_forking(lock: Any) -> Any:
    """Let the thread that forks a process hold a lock meanwhile. Of nested locks the inner one comes first.

    Another thread that has the lock does not exist in the new process, and would never free it there.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
