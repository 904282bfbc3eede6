"""Graphs: graphs of traced functions, for tests that inspect or run them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agog_core as ag
from agog_core.tracing.graphs.graph import Graph
from agog_core.tracing.traces.first_call import first_call


def graph_of(python: Callable[..., Any], *args: ag.Tensor) -> Graph:
    """The graph of a Python function, called once; variables that it writes are written.

    >>> graph = graph_of(lambda x: ag.exp(x) + 1.0, ag.constant(0.0))
    >>> [node.op.name for node in graph.nodes]
    ['exp', 'add']
    """
    return first_call(lambda args, kwargs: python(*args), args, {}, may_create=True).concrete.graph
