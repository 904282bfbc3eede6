"""Write-behind: asynchronous saves, one at a time, on a thread."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from agog_checkpoint.warning import CheckpointWarning

# Python acts on Ctrl-C between two instructions. One that comes just before a wait would be heard only when it is over.
_HEARING_SECONDS = 0.5


class Saving:
    """A save and its thread. Whoever has `begun` first decides whether the save happens: the thread, or who found that
    a Ctrl-C came before that was started."""

    def __init__(self, save: Callable[[], object], behind: WriteBehind) -> None:
        self.save = save
        self.begun = threading.Lock()
        self.ended = threading.Event()
        # The thread holds `behind`, so that failures are told of after the save and not before.
        self.thread = threading.Thread(target=_run, args=(self, behind), name="agog-checkpoint")

    def wait(self) -> None:
        """Wait for the save's end."""
        if self.thread.ident is None and self.begun.acquire(blocking=False):
            return  # `start` was interrupted, and the thread, should there be one, will find nothing to do
        while not self.ended.wait(_HEARING_SECONDS):
            pass
        while self.thread.is_alive():
            self.thread.join(_HEARING_SECONDS)


class WriteBehind:
    """Runs one save at a time on a thread of its own, which ends with the save.

    A failure is raised when the next save begins, or by `wait`; one that nobody has heard of when the program ends, or
    when nobody can any more, is told of by a warning. The interpreter does not end before the thread.

    Several threads may save: who numbers a save and begins it holds `lock` meanwhile.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._saving: Saving | None = None
        self.failures: list[BaseException] = []
        weakref.finalize(self, _warn, self.failures)

    def __deepcopy__(self, memo: dict[int, Any]) -> WriteBehind:
        return WriteBehind()  # what is copied has not begun to save

    def start(self, save: Callable[[], object]) -> None:
        """Wait for the previous save, and begin another one, of data that nobody changes meanwhile. Raises OpError if
        the save before has failed; this one was not begun.
        """
        with self.lock:
            self.wait()
            self._saving = Saving(save, self)
            self._saving.thread.start()

    def wait(self) -> None:
        """Wait until the save is on the disk. Raises OpError, once, where it has failed."""
        with self.lock:
            if self._saving is not None:
                self._saving.wait()
                self._saving = None
            if self.failures:
                raise self.failures.pop()


def _run(saving: Saving, behind: WriteBehind) -> None:
    """The work of the thread."""
    try:
        if saving.begun.acquire(blocking=False):
            saving.save()
    except BaseException as error:
        behind.failures.append(error)
    finally:
        saving.ended.set()
        del saving, behind  # which the frames of the error would hold


def _warn(failures: list[BaseException]) -> None:
    for failure in failures:
        warnings.warn(
            f"An asynchronous save has failed, and neither a later save nor wait() has said so: {failure}",
            CheckpointWarning,
            stacklevel=2,
        )
