"""Processes that are forked while another thread has a lock."""

from __future__ import annotations

import os
import threading

import pytest

import agog_core as ag
from agog_core import random

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_gets_free_locks() -> None:
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with random._lock:
            held.set()
            assert let_go.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(20)
    threading.Timer(0.05, let_go.set).start()
    child = os.fork()  # waits for the thread
    if not child:
        ag.random_uniform([])
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert let_go.is_set()
    thread.join()
