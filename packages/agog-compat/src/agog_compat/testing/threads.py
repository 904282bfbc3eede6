"""Threads: threads with errors that fail their test."""

from __future__ import annotations

import threading
import unittest
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any


class CheckedThread:
    """A thread that keeps the error of its function until it is joined."""

    def __init__(
        self,
        test: unittest.TestCase,
        target: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> None:
        self._test = test
        self._call = partial(target, *args, **kwargs)
        self._thread = threading.Thread(target=self._run)
        self._error: BaseException | None = None

    def _run(self) -> None:
        try:
            self._call()
        except BaseException as error:
            self._error = error

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the thread's end, and fail the test where its function has raised."""
        self._thread.join()
        if self._error is not None:
            raise self._test.failureException(f"Error in checkedThread: {self._error}") from self._error

    def is_alive(self) -> bool:
        """Whether the function still runs."""
        return self._thread.is_alive()
