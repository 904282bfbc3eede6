"""Progress: a thread that sends while the program computes, since an engine goes on only while somebody waits in it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from agog_distribute.groups import Group

Job = tuple[Callable[[], None], "SimpleQueue[BaseException | None]"]


class Progress:
    """Runs jobs in their order, in a thread of its own where the engine serves two.

    Args:
        group: the processes; all members make it at once.
    """

    def __init__(self, group: Group) -> None:
        apart = group.communicator.duplicate()
        self.group = group if apart is None else Group(group.ranks, apart)
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._has_thread = apart is not None
        if self._has_thread:
            threading.Thread(target=_run, args=(self._jobs,), name="agog-distribute-progress", daemon=True).start()

    def start(self, job: Callable[[], None], done: SimpleQueue[BaseException | None]) -> None:
        """Run a job soon; what it raises, or None, comes behind it."""
        if self._has_thread:
            self._jobs.put((job, done))
        else:
            _do(job, done)


def _run(jobs: SimpleQueue[Job]) -> None:
    while True:
        _do(*jobs.get())


def _do(job: Callable[[], None], done: SimpleQueue[BaseException | None]) -> None:
    error: Any = None
    try:
        job()
    except BaseException as raised:
        error = raised
    done.put(error)
