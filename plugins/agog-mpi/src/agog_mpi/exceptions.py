"""Exceptions: one that no process catches ends them all, since the others would wait for it for ever."""

from __future__ import annotations

import sys
import threading
from typing import Any

from agog_core.plugin import Communicator


def abort_on_exceptions(everybody: Communicator) -> None:
    """End all processes where an exception leaves the main program, or a thread, of this one."""
    of_program, of_threads = sys.excepthook, threading.excepthook

    def program(kind: Any, error: Any, trace: Any) -> None:
        of_program(kind, error, trace)
        everybody.abort(f"Rank {everybody.rank} ends all processes: it has raised {kind.__name__}.")

    def thread(given: threading.ExceptHookArgs) -> None:
        of_threads(given)
        if given.exc_type is not SystemExit:
            everybody.abort(f"Rank {everybody.rank} ends all processes: a thread has raised {given.exc_type.__name__}.")

    sys.excepthook, threading.excepthook = program, thread
