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
        everybody.abort(f"Rank {everybody.rank} ends all processes: it has raised {described(kind, error)}")

    def thread(given: threading.ExceptHookArgs) -> None:
        of_threads(given)
        if given.exc_type is not SystemExit:
            raised = described(given.exc_type, given.exc_value)
            everybody.abort(f"Rank {everybody.rank} ends all processes: a thread has raised {raised}")

    sys.excepthook, threading.excepthook = program, thread


def described(kind: type[BaseException], error: BaseException | None) -> str:
    """An exception on one line."""
    lines = str(error).splitlines()
    return f"{kind.__name__}: {lines[0]}" if lines else f"{kind.__name__}."
