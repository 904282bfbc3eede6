"""Worker: one framework in a process of its own, which answers requests of the other side of a pipe."""

from __future__ import annotations

import gc
import os
import sys
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

# Pinned by some environments to a core without the processor's best instructions, which NumPy's products then miss.
PINNED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
POOLS = ("AGOG", "MKL", "NUMEXPR", "OMP", "OPENBLAS")


def serve(pipe: Connection, name: str, threads: int) -> None:
    """Set a framework to a number of threads, then answer until the pipe is closed."""
    for variable in PINNED:
        os.environ.pop(variable, None)
    os.environ |= {f"{pool}_NUM_THREADS": str(threads) for pool in POOLS}
    if hasattr(os, "sched_setaffinity"):  # limits the pools that no setting reaches
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    sys.stdout = sys.stderr
    from benchmarks.cases import CASES
    from benchmarks.frameworks import framework

    chosen = framework(name, threads)
    program: Any = None
    while True:
        try:
            question, argument = pipe.recv()
        except EOFError:
            return
        try:
            match question:
                case "first":
                    program = None
                    gc.collect()
                    program = CASES[argument].program(chosen)
                    start = perf_counter()
                    value = chosen.number(program())
                    pipe.send((value, perf_counter() - start))
                case "calls":
                    start = perf_counter()
                    for _ in range(argument):
                        program()
                    pipe.send(perf_counter() - start)
        except Exception as error:
            pipe.send(f"{type(error).__name__}: {error}")
