"""Compiler: the part of the plugin contract for executors and compilers of traced functions; `plugin` has it too.

An executor makes a function of a `Graph`, whose nodes are ops. A compiler makes one of a `Subgraph`, whose primitives
are NumPy's functions.
"""

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.lowering import filling, kernel_of, lowering
from agog_core.dispatch.kernels.observation import TracedStep, tell, unobserved
from agog_core.dispatch.kernels.resolution import adopted, run_next
from agog_core.dispatch.plugins.compilers import ArraySpec, Claim, Compiler, Primitive, Subgraph
from agog_core.dispatch.plugins.executors import Executable, Executor
from agog_core.tracing.errors import note_written, undone
from agog_core.tracing.graphs.graph import PURE, WRITES, Effect, Graph, Late, LateItem, Node, Value
from agog_core.tracing.traces.single import SingleOp

__all__ = [
    "PURE",
    "WRITES",
    "ArraySpec",
    "Claim",
    "Compiler",
    "Effect",
    "Executable",
    "Executor",
    "Graph",
    "KernelTable",
    "Late",
    "LateItem",
    "Node",
    "Primitive",
    "SingleOp",
    "Subgraph",
    "TracedStep",
    "Value",
    "adopted",
    "filling",
    "kernel_of",
    "lowering",
    "note_failure",
    "note_written",
    "run_next",
    "tell",
    "undone",
    "unobserved",
]
