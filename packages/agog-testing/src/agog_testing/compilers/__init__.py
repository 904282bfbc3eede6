"""Compilers: tests that executors and compilers of traced functions give eager bits."""

from agog_testing.compilers import interpreter
from agog_testing.compilers.calls import check_calls
from agog_testing.compilers.graphs import graph_of
from agog_testing.compilers.scope import compilers_in_use, executors_in_use

__all__ = ["check_calls", "compilers_in_use", "executors_in_use", "graph_of", "interpreter"]
