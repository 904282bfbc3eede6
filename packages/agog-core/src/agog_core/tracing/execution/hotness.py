"""Hotness: when a trace has run for so long that it pays to compile it.

A trace first runs node by node, which is ready at once. From its 16th run on a function is called that is written for
it. Once it has run for three times as long as compiling it may take, it is compiled: then that has cost at most a third
more, also if no other call comes. How long compiling takes is learned from what was compiled before; compilers that
were never asked before take a while to load.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from agog_core.dispatch.devices.lookup import forgotten
from agog_core.dispatch.kernels.observation import are_observed
from agog_core.dispatch.plugins.loader import loader
from agog_core.tracing.execution.interpreter import interpreted
from agog_core.tracing.execution.portable import Run, portable
from agog_core.tracing.graphs.graph import Graph

_SKIPPED, _SHORT = 7, 0.00002  # so many runs are not measured after one that took fewer seconds
_RUNS = 16  # to write a function takes as long as it saves in some 80 runs on small arrays
_TIMES = 3.0  # how many times as long as compiling takes a trace runs before
# Seconds to compile a node, where there are no compilers and where there are: at least, and as far as is known. More
# than the most is what is loaded when something is compiled first.
_LEAST, _MOST = {False: 0.0003, True: 0.001}, 0.02
_per_node = dict(_LEAST)
_LOADING = {False: 0.04, True: 0.15}  # seconds to load that: all traces together run for three times as long before
_spent = [0.0]  # seconds that traces have run before they were compiled
_loaded: set[bool] = set()  # whether something was compiled, without compilers and with them
# Why traces are compiled before they run: an entry for each reason.
_at_once: list[str] = ["AGOG_COMPILE"] if os.environ.get("AGOG_COMPILE", "") not in ("", "0") else []
_CALLED = "compile_functions_at_once"


def compile_functions_at_once(at_once: bool) -> None:
    """Choose whether functions that `function` has wrapped are compiled before a trace of theirs runs first, as for
    measuring, or once they have run for so long that it pays.

    Args:
        at_once: whether they are.

    >>> compile_functions_at_once(True)
    >>> functions_compile_at_once()
    True
    >>> compile_functions_at_once(False)
    """
    if _CALLED in _at_once:
        _at_once.remove(_CALLED)
    if at_once:
        _at_once.append(_CALLED)


def functions_compile_at_once() -> bool:
    """Whether functions that `function` has wrapped are compiled at once: see `compile_functions_at_once`.

    Returns:
        True where `compile_functions_at_once` or the environment variable ``AGOG_COMPILE`` says so.

    >>> type(functions_compile_at_once())
    <class 'bool'>
    """
    return bool(_at_once)


def compiled(graph: Graph, compile_graph: Callable[[Graph], Run]) -> Run:
    """Compile a graph; the next ones are expected to take as long."""
    if graph.calls_python:  # its parts are compiled each for itself
        return compile_graph(graph)
    kind = _has_compilers(graph)
    start = perf_counter()
    run = compile_graph(graph)
    seconds = (perf_counter() - start) / max(1, len(graph.nodes))
    _loaded.add(kind)
    known = _per_node
    known[kind] = max(_LEAST[kind], (known[kind] + min(seconds, _MOST)) / 2)
    return run


def _has_compilers(graph: Graph) -> bool:
    """Whether there are compilers for a device of a graph."""
    devices = {value.table.device.type for node in graph.nodes for value in node.outputs}
    return any(compiler.device in devices for plugin in loader().plugins for compiler in plugin.compilers)


def warming(graph: Graph, is_hot: Callable[[], None]) -> Run | None:
    """A function that runs a graph by its kernels, and calls another one when the graph is hot; None where it is to be
    compiled at once, as for those who look at what runs.
    """
    if _at_once or are_observed() or (cold := interpreted(graph)) is None:
        return None
    run: Run = cold
    kind = _has_compilers(graph)
    version, left = forgotten[0], _TIMES * _per_node[kind] * len(graph.nodes)
    runs, skipped, skips = 0, 0, 0

    def timed(inputs: Sequence[Any], variables: Sequence[Any]) -> Any:
        nonlocal left, run, runs, skipped, skips
        if skips:
            skips -= 1
            return run(inputs, variables)
        runs += 1
        if runs == _RUNS and version == forgotten[0]:
            run = portable(graph)
        start = perf_counter()
        try:
            return run(inputs, variables)
        finally:
            seconds = perf_counter() - start
            left -= seconds * (1 + skipped)
            _spent[0] += seconds * (1 + skipped)
            skips = skipped = _SKIPPED if runs >= _RUNS and seconds < _SHORT else 0
            if (left < 0 or _at_once) and version == forgotten[0]:
                is_loaded = kind in _loaded or _spent[0] > _TIMES * _LOADING[kind]
                if is_loaded or _at_once:
                    is_hot()

    return timed
