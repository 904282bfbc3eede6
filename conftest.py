"""Conftest: what holds for all tests."""

import gc
import os
from collections.abc import Iterator
from itertools import count

import pytest

# Tests ask what compiled functions do; those of what runs before that say so themselves.
os.environ.setdefault("AGOG_COMPILE", "1")

# Tests compare bits, which depend on how many threads OpenBLAS has: a number that is said stays, whatever else runs.
_PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
os.environ.setdefault("OPENBLAS_NUM_THREADS", str(_PROCESSORS))

_TESTS = count(1)


@pytest.fixture(autouse=True)
def _garbage_of_other_tests_stays() -> Iterator[None]:
    """Let the collector find what this test has made, and nothing that others have left: in the midst of a test these
    would end their restores, close their files and warn, and what it sees of the process would change."""
    gc.freeze()
    yield
    gc.unfreeze()
    if next(_TESTS) % 100 == 0:
        gc.collect()
