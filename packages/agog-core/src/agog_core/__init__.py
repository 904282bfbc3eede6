"""agog-core: tensors, variables, ops, tapes, devices and the plugin contract.

>>> import agog_core as ag
>>> df = ag.gradients_function(lambda x: x * x)
>>> float(df(3.0)[0])
6.0
"""

from typing import TYPE_CHECKING

from agog_core import dtypes as dtypes
from agog_core import errors as errors
from agog_core import nest as nest
from agog_core import random as random
from agog_core.calls.broadcasting import *
from agog_core.checkpointable import *
from agog_core.dispatch.devices.device_spec import *
from agog_core.dispatch.devices.lookup import *
from agog_core.dispatch.devices.precision import *
from agog_core.dispatch.kernels.fallback import *
from agog_core.dispatch.plugins.preference import *
from agog_core.dispatch.plugins.registration import *
from agog_core.dispatch.reports.explanation import *
from agog_core.dtypes import *
from agog_core.dtypes import bool_ as _bool
from agog_core.exports import later as _later
from agog_core.gradients.forward import *
from agog_core.gradients.functions import *
from agog_core.gradients.tape import *
from agog_core.gradients.unconnected import *
from agog_core.ops import operators as _operators  # attaches the operators to Tensor and Variable
from agog_core.ops.array import *
from agog_core.ops.control import *
from agog_core.ops.indexing import *
from agog_core.ops.linalg import *
from agog_core.ops.math import *
from agog_core.ops.random import *
from agog_core.ops.reduce import *
from agog_core.ops.sorting import *
from agog_core.ops.updates import *
from agog_core.random import set_random_seed as set_random_seed
from agog_core.shapes import *
from agog_core.tensors import methods as _methods  # attaches methods to Tensor
from agog_core.tensors.constant import *
from agog_core.tensors.convert import *
from agog_core.tensors.dlpack import *
from agog_core.tensors.indexed_slices import *
from agog_core.tensors.sparse_tensor import *
from agog_core.tensors.tensor import *
from agog_core.variables.name_scope import *
from agog_core.variables.variable import *

bool = _bool

if TYPE_CHECKING:
    from agog_core.dispatch.devices.memory import *
    from agog_core.gradients.inspection import *
    from agog_core.gradients.recompute import *
    from agog_core.observers.profiling import *
    from agog_core.ops import nn as nn
    from agog_core.ops.control.clock import *
    from agog_core.ops.signal.fourier import *
    from agog_core.ops.sorting.editing import *
    from agog_core.ops.strings import *
    from agog_core.tensors.tensor_spec import *
    from agog_core.tracing.functions.eager_mode import *
    from agog_core.tracing.functions.function import *
    from agog_core.variables.module import *

__version__ = "0.1.0"

# What most programs do without is imported when one of its names is asked for.
__getattr__, __dir__ = _later(
    __name__,
    modules={name: f"agog_core.{name}" for name in ("dtypes", "errors", "nest", "random")} | {"nn": "agog_core.ops.nn"},
    rooms=[
        "agog_core.tensors.tensor_spec",
        "agog_core.dispatch.devices.memory",
        "agog_core.observers.profiling",
        "agog_core.gradients.inspection",
        "agog_core.gradients.recompute",
        "agog_core.ops.control.clock",
        "agog_core.ops.sorting.editing",
        "agog_core.ops.signal.fourier",
        "agog_core.ops.strings",
        "agog_core.tracing.functions.eager_mode",
        "agog_core.tracing.functions.function",
        "agog_core.variables.module",
    ],
)
