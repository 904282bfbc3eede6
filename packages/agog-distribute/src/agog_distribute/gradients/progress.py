"""Progress: a thread that sends while the program computes, since an engine goes on only while somebody waits in it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from agog_distribute.processes.groups import Group

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
        self._started = self._finished = 0
        if self._has_thread:
            threading.Thread(target=self._run, name="agog-distribute-progress", daemon=True).start()

    def start(self, job: Callable[[], None], done: SimpleQueue[BaseException | None], awaited: bool = False) -> None:
        """Run a job soon; what it raises, or None, comes behind it.

        Args:
            job: a function.
            done: gets what it raises.
            awaited: whether the caller does nothing else meanwhile: it runs the job where the thread has no other one.
        """
        if self._has_thread and not (awaited and self._started == self._finished):
            self._started += 1
            self._jobs.put((job, done))
        else:
            done.put(_error_of(job))

    def _run(self) -> None:
        while True:
            job, done = self._jobs.get()
            error = _error_of(job)
            self._finished += 1
            done.put(error)


def _error_of(job: Callable[[], None]) -> BaseException | None:
    try:
        job()
    except BaseException as error:
        return error
    return None
