"""Benchmark: the base class of programs that measure themselves."""

from __future__ import annotations

import inspect
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

__all__ = ["Benchmark"]


class Benchmark:
    """The base class of benchmarks: ``tf.test.main`` runs their methods ``benchmark...`` when asked for with
    ``--benchmarks=REGEX``.

    >>> class Addition(Benchmark):
    ...     def benchmark_integers(self):
    ...         self.report_benchmark(iters=1000, wall_time=0.5)
    >>> Addition().benchmark_integers()
    {"name": "Addition.benchmark_integers", "iters": 1000, "wall_time": 0.5}
    """

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Print what was measured, as one line of JSON; where the environment variable TEST_REPORT_FILE_PREFIX is set,
        write it into a file whose name begins so instead.

        Args:
            iters: how many times it ran.
            cpu_time: the processor's time of one run, in seconds.
            wall_time: the time of one run, in seconds.
            throughput: megabytes each second.
            extras: what else there is to say.
            name: the benchmark's name; None for that of the method that calls this.

        Raises:
            OSError: the file exists.
        """
        full_name = f"{type(self).__name__}.{name or self._calling_method()}"
        entry: dict[str, Any] = {"name": full_name, "iters": iters, "cpu_time": cpu_time, "wall_time": wall_time}
        entry |= {"throughput": throughput, "extras": dict(extras) if extras else None}
        line = json.dumps({key: value for key, value in entry.items() if value is not None}, default=str)
        prefix = os.environ.get("TEST_REPORT_FILE_PREFIX")
        if not prefix:
            print(line)
            return
        with open(prefix + full_name.replace("/", "__"), "x", encoding="utf-8") as file:
            file.write(line + "\n")

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Callable[[], Any],
        feed_dict: Any = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: Mapping[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Call a function several times, and report the median of its times.

        Args:
            sess: not used; there are no sessions.
            op_or_tensor: a function without arguments. A tensor is there already, and has nothing to measure.
            burn_iters: how many calls are not measured.
            min_iters: how many calls are measured.
            name: the benchmark's name; None for that of the method that calls this.
            extras: what else there is to say.
            mbs: the megabytes that one call moves.

        Returns:
            What was reported.

        Raises:
            TypeError: there is a tensor in place of the function.
        """
        if not callable(op_or_tensor):
            raise TypeError(
                "run_op_benchmark: ops run as they are called, so pass a function that runs them; got "
                f"{type(op_or_tensor).__name__}."
            )
        for _ in range(burn_iters):
            op_or_tensor()
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            op_or_tensor()
            times.append(time.perf_counter() - start)
        typical = median(times)
        values: dict[str, Any] = {
            "iters": min_iters,
            "wall_time": typical,
            "throughput": mbs / typical,
            "extras": dict(extras or {}),
        }
        self.report_benchmark(**values, name=name or self._calling_method())
        return {**values, "name": name}

    def _calling_method(self) -> str:
        """The outermost method of this object on the stack."""
        own = [frame.function for frame in inspect.stack() if frame.frame.f_locals.get("self") is self]
        return own[-1]


def run_benchmarks(pattern: str) -> None:
    """Run the methods ``benchmark...`` of all subclasses of `Benchmark` whose full names match a regular expression.

    Args:
        pattern: the regular expression, or ``"all"``.
    """
    for cls in _subclasses(Benchmark):
        methods = [name for name in dir(cls) if name.startswith("benchmark") and callable(getattr(cls, name))]
        full_name = f"{cls.__module__}.{cls.__name__}"
        chosen = [name for name in methods if pattern == "all" or re.search(pattern, f"{full_name}.{name}")]
        if chosen:
            benchmark = cls()
            for name in chosen:
                getattr(benchmark, name)()


def _subclasses(cls: type[Benchmark]) -> list[type[Benchmark]]:
    found: list[type[Benchmark]] = []
    for below in cls.__subclasses__():
        found += [below, *_subclasses(below)]
    return found
