"""Plugin: the contract, and the only module of agog-core for plugins.

A plugin is a distribution with an entry point in the group ``agog`` that names a module of hook implementations::

    [project.entry-points.agog]
    my-kernels = "my_kernels.hooks"

The module imports nothing heavy. Its hooks are called once, on the first use of a device, and return plain data.
pluggy is never on the path of an op.

A whole plugin, which makes one op of the CPU faster:

>>> from types import ModuleType
>>> from agog_core.plugin import Kernel, hookimpl, requires
>>> hooks = ModuleType("my_kernels.hooks")
>>> hooks.AGOG_API_VERSION = requires(3)
>>> @hookimpl
... def agog_kernels():
...     yield Kernel(op="square", device="cpu", fn="my_kernels.fast:square", dtypes=("float32",), priority=200)
>>> hooks.agog_kernels = agog_kernels
"""

import agog_core.compiler as compiler  # `from agog_core import compiler` would load all rooms
import agog_core.threads as threads
from agog_core import dtypes
from agog_core.calls.call import call, call_several, call_with, create, update
from agog_core.calls.elementwise import binary, unary
from agog_core.compiler import *
from agog_core.dispatch.devices.precision import matmul_precision
from agog_core.dispatch.op import Op, registry
from agog_core.dispatch.plugins.backend import Backend, MemoryStats
from agog_core.dispatch.plugins.collectives import Collective, Communicator, HostCommunicator
from agog_core.dispatch.plugins.contract import (
    API_VERSION,
    PROJECT,
    Conformance,
    Kernel,
    LateOps,
    hookimpl,
    hookspec,
    requires,
)
from agog_core.dispatch.plugins.reference import load_reference
from agog_core.dtypes import as_dtype
from agog_core.errors import (
    AbortedError,
    InvalidArgumentError,
    PluginWarning,
    ResourceExhaustedError,
    describe_error,
    describe_value,
)
from agog_core.random import random_bits
from agog_core.shapes import TensorShape
from agog_core.tensors import Tensor, convert_to_tensor
from agog_core.variables.memory import version

__all__ = [
    "API_VERSION",
    "PROJECT",
    "AbortedError",
    "Backend",
    "Collective",
    "Communicator",
    "Conformance",
    "HostCommunicator",
    "InvalidArgumentError",
    "Kernel",
    "LateOps",
    "MemoryStats",
    "Op",
    "PluginWarning",
    "ResourceExhaustedError",
    "Tensor",
    "TensorShape",
    "as_dtype",
    "binary",
    "call",
    "call_several",
    "call_with",
    "convert_to_tensor",
    "create",
    "describe_error",
    "describe_value",
    "dtypes",
    "hookimpl",
    "hookspec",
    "load_reference",
    "matmul_precision",
    "random_bits",
    "registry",
    "requires",
    "threads",
    "unary",
    "update",
    "version",
]
__all__ += compiler.__all__
