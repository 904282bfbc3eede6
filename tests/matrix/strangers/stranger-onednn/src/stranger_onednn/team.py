"""Team: how many threads oneDNN's OpenMP computes with, as agog says."""

from __future__ import annotations

import os
import threading

from agog_core.plugin import threads
from stranger_onednn.api import omp


class Team:
    """The number of threads; OpenMP keeps it for each thread of the program by itself."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._number = 1
        self._own = threading.local()
        threads.register("OpenMP of oneDNN", self._set, priority=100)

    def _set(self, number: int) -> None:
        # A process that was forked has none of OpenMP's threads, and would wait for them for ever.
        self._number = number if os.getpid() == self._process else 1

    def ready(self) -> None:
        """Give the calling thread its number, before it computes."""
        if getattr(self._own, "number", None) != self._number:
            self._own.number = self._number
            omp.omp_set_num_threads(self._number)


team = Team()
