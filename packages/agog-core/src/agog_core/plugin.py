"""Plugin: the contract, all that a plugin may import from agog-core.

A plugin is a distribution with an entry point in the group ``agog`` that names a module of hook implementations::

    [project.entry-points.agog]
    my-kernels = "my_kernels.hooks"

The module imports nothing heavy. Its hooks are called once, on the first use of a device, and return plain data.
pluggy is never on the path of an op.

A whole plugin, which makes one op of the CPU faster:

>>> from types import ModuleType
>>> from agog_core.plugin import Kernel, hookimpl, requires
>>> hooks = ModuleType("my_kernels.hooks")
>>> hooks.AGOG_API_VERSION = requires(2)
>>> @hookimpl
... def agog_kernels():
...     yield Kernel(op="square", device="cpu", fn="my_kernels.fast:square", dtypes=("float32",), priority=200)
>>> hooks.agog_kernels = agog_kernels
"""

from agog_core import dtypes
from agog_core.calls.call import call, call_several, create, update
from agog_core.calls.elementwise import binary, unary
from agog_core.dispatch.devices.precision import matmul_precision
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.lowering import filling, kernel_of, lowering
from agog_core.dispatch.kernels.observation import TracedStep, tell, unobserved
from agog_core.dispatch.kernels.resolution import adopted, run_next
from agog_core.dispatch.op import Op, registry
from agog_core.dispatch.plugins.backend import Backend, MemoryStats
from agog_core.dispatch.plugins.compilers import ArraySpec, Claim, Compiler, Primitive, Subgraph
from agog_core.dispatch.plugins.contract import (
    API_VERSION,
    PROJECT,
    Conformance,
    Kernel,
    hookimpl,
    hookspec,
    requires,
)
from agog_core.dispatch.plugins.reference import load_reference
from agog_core.dtypes import as_dtype
from agog_core.errors import InvalidArgumentError, PluginWarning, ResourceExhaustedError
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.errors import note_written, undone
from agog_core.tracing.graphs.graph import Late, LateItem
from agog_core.tracing.traces.single import SingleOp
from agog_core.variables.memory import version

__all__ = [
    "API_VERSION",
    "PROJECT",
    "ArraySpec",
    "Backend",
    "Claim",
    "Compiler",
    "Conformance",
    "InvalidArgumentError",
    "Kernel",
    "Late",
    "LateItem",
    "MemoryStats",
    "Op",
    "PluginWarning",
    "Primitive",
    "ResourceExhaustedError",
    "SingleOp",
    "Subgraph",
    "Tensor",
    "TracedStep",
    "adopted",
    "as_dtype",
    "binary",
    "call",
    "call_several",
    "convert_to_tensor",
    "create",
    "dtypes",
    "filling",
    "hookimpl",
    "hookspec",
    "kernel_of",
    "load_reference",
    "lowering",
    "matmul_precision",
    "note_failure",
    "note_written",
    "registry",
    "requires",
    "run_next",
    "tell",
    "unary",
    "undone",
    "unobserved",
    "update",
    "version",
]
