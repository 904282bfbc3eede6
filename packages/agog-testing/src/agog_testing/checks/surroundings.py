"""Surroundings: process state that a kernel must not change: threads, random states, NumPy's settings, warnings."""

from __future__ import annotations

import random
import threading
from typing import Any, NamedTuple

import numpy as np


class Surroundings(NamedTuple):
    """The state of the process that is none of a kernel's business, by name."""

    threads: frozenset[threading.Thread]
    numpy_random: Any
    python_random: Any
    numpy_errors: Any
    numpy_printing: Any


def surroundings() -> Surroundings:
    """The surroundings as they are now."""
    algorithm, keys, *rest = np.random.get_state(legacy=True)
    return Surroundings(
        threads=frozenset(threading.enumerate()),
        numpy_random=(algorithm, np.asarray(keys).tobytes(), *rest),
        python_random=random.getstate(),
        numpy_errors=(np.geterr(), np.geterrcall()),
        numpy_printing=np.get_printoptions(),
    )
