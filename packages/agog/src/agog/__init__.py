"""agog: TensorFlow-shaped eager execution, ``import agog as tf``.

Everything here is defined in another package; importing it loads no plugin, and no namespace before it is used.

>>> import agog as tf
>>> tf.matmul([[2.0]], [[2.0]]).numpy().tolist()
[[4.0]]
"""

from typing import TYPE_CHECKING

from agog_compat import habits as _habits
from agog_compat import shape_methods as _shape_methods
from agog_compat.advice import taught as _taught
from agog_compat.configuration import *
from agog_compat.execution import enable_eager_execution as enable_eager_execution
from agog_compat.execution import executing_eagerly as executing_eagerly
from agog_compat.graph_only import *
from agog_compat.graph_only import Refused as _Refused
from agog_core.calls.broadcasting import *
from agog_core.dispatch.devices.device_spec import *
from agog_core.dispatch.devices.lookup import device as device
from agog_core.dispatch.devices.precision import *
from agog_core.dispatch.kernels.fallback import *
from agog_core.dispatch.plugins.preference import *
from agog_core.dispatch.plugins.registration import *
from agog_core.dispatch.reports.explanation import *
from agog_core.dtypes import *
from agog_core.dtypes import bool_ as _bool
from agog_core.errors import OpError as OpError
from agog_core.exports import Some as _Some
from agog_core.exports import later as _later
from agog_core.gradients.functions import custom_gradient as custom_gradient
from agog_core.gradients.tape import *
from agog_core.gradients.unconnected import *
from agog_core.ops.array import *
from agog_core.ops.control import *
from agog_core.ops.control.py_func import eager_py_func as _eager_py_func
from agog_core.ops.indexing import *
from agog_core.ops.linalg import *
from agog_core.ops.math import *
from agog_core.ops.random import *
from agog_core.ops.reduce import *
from agog_core.ops.sorting import *
from agog_core.ops.updates import *
from agog_core.random import set_random_seed as set_random_seed
from agog_core.shapes import *
from agog_core.tensors.constant import *
from agog_core.tensors.convert import *
from agog_core.tensors.dlpack import *
from agog_core.tensors.indexed_slices import *
from agog_core.tensors.sparse_tensor import *
from agog_core.tensors.tensor import Tensor as Tensor
from agog_core.variables.name_scope import *
from agog_core.variables.variable import *

bool = _bool
double = float64
half = float16
lin_space = linspace
numpy_function = py_func
py_function = _eager_py_func
reverse_v2 = reverse
tensor_scatter_nd_add = tensor_scatter_add
tensor_scatter_nd_sub = tensor_scatter_sub
tensor_scatter_nd_update = tensor_scatter_update
vectorized_map = map_fn

if TYPE_CHECKING:
    from agog import app as app
    from agog import array_api as array_api
    from agog import autodiff as autodiff
    from agog import bitwise as bitwise
    from agog import compat as compat
    from agog import config as config
    from agog import contrib as contrib
    from agog import data as data
    from agog import debugging as debugging
    from agog import distribute as distribute
    from agog import distributions as distributions
    from agog import dtypes as dtypes
    from agog import eager as eager
    from agog import errors as errors
    from agog import examples as examples
    from agog import export as export
    from agog import feature_column as feature_column
    from agog import flags as flags
    from agog import gfile as gfile
    from agog import image as image
    from agog import initializers as initializers
    from agog import io as io
    from agog import keras as keras
    from agog import layers as layers
    from agog import linalg as linalg
    from agog import logging as logging
    from agog import lookup as lookup
    from agog import losses as losses
    from agog import manip as manip
    from agog import math as math
    from agog import metrics as metrics
    from agog import nest as nest
    from agog import nn as nn
    from agog import python_io as python_io
    from agog import random as random
    from agog import saved_model as saved_model
    from agog import sets as sets
    from agog import signal as signal
    from agog import sparse as sparse
    from agog import spectral as spectral
    from agog import strings as strings
    from agog import summary as summary
    from agog import test as test
    from agog import train as train
    from agog_compat.collections import *
    from agog_compat.critical_section import *
    from agog_compat.graph_scopes import *
    from agog_compat.replication import *
    from agog_core.dispatch.devices.memory import *
    from agog_core.gradients.recompute import *
    from agog_core.observers.profiling import *
    from agog_core.ops.control.clock import *
    from agog_core.ops.conv.patches import *
    from agog_core.ops.signal.fourier import *
    from agog_core.ops.sorting.editing import *
    from agog_core.ops.strings import *
    from agog_core.tensors.tensor_spec import *
    from agog_core.tracing.functions.function import function as function
    from agog_core.variables.module import *
    from agog_data.examples.features import FixedLenFeature as FixedLenFeature
    from agog_data.examples.features import FixedLenSequenceFeature as FixedLenSequenceFeature
    from agog_data.examples.features import SparseFeature as SparseFeature
    from agog_data.examples.features import VarLenFeature as VarLenFeature
    from agog_data.examples.parsing import parse_example as parse_example
    from agog_data.examples.parsing import parse_single_example as parse_single_example
    from agog_data.examples.sequences import parse_single_sequence_example as parse_single_sequence_example
    from agog_data.readers.csv_fields import decode_csv as decode_csv
    from agog_layers.tf_layers.template import make_template as make_template
    from agog_layers.tf_layers.variable_scope import AUTO_REUSE as AUTO_REUSE
    from agog_layers.tf_layers.variable_scope import VariableScope as VariableScope
    from agog_layers.tf_layers.variable_scope import get_local_variable as get_local_variable
    from agog_layers.tf_layers.variable_scope import get_variable as get_variable
    from agog_layers.tf_layers.variable_scope import get_variable_scope as get_variable_scope
    from agog_layers.tf_layers.variable_scope import no_regularizer as no_regularizer
    from agog_layers.tf_layers.variable_scope import variable_op_scope as variable_op_scope
    from agog_layers.tf_layers.variable_scope import variable_scope as variable_scope
    from agog_layers.weights.initializers import constant_initializer as constant_initializer
    from agog_layers.weights.initializers import glorot_normal_initializer as glorot_normal_initializer
    from agog_layers.weights.initializers import glorot_uniform_initializer as glorot_uniform_initializer
    from agog_layers.weights.initializers import ones_initializer as ones_initializer
    from agog_layers.weights.initializers import orthogonal_initializer as orthogonal_initializer
    from agog_layers.weights.initializers import random_normal_initializer as random_normal_initializer
    from agog_layers.weights.initializers import random_uniform_initializer as random_uniform_initializer
    from agog_layers.weights.initializers import truncated_normal_initializer as truncated_normal_initializer
    from agog_layers.weights.initializers import uniform_unit_scaling_initializer as uniform_unit_scaling_initializer
    from agog_layers.weights.initializers import variance_scaling_initializer as variance_scaling_initializer
    from agog_layers.weights.initializers import zeros_initializer as zeros_initializer

__version__ = "0.1.0"

_NAMESPACES = [
    "app",
    "array_api",
    "autodiff",
    "bitwise",
    "compat",
    "config",
    "contrib",
    "data",
    "debugging",
    "distribute",
    "distributions",
    "dtypes",
    "eager",
    "errors",
    "examples",
    "export",
    "feature_column",
    "flags",
    "gfile",
    "image",
    "initializers",
    "io",
    "keras",
    "layers",
    "linalg",
    "logging",
    "lookup",
    "losses",
    "manip",
    "math",
    "metrics",
    "nest",
    "nn",
    "python_io",
    "random",
    "saved_model",
    "sets",
    "signal",
    "sparse",
    "spectral",
    "strings",
    "summary",
    "test",
    "train",
]

# What most programs do without is imported when one of its names is asked for.
__getattr__, __dir__ = _later(
    __name__,
    modules={name: f"agog.{name}" for name in _NAMESPACES},
    rooms=[
        _Some(
            "agog_data.examples.features",
            "FixedLenFeature",
            "FixedLenSequenceFeature",
            "SparseFeature",
            "VarLenFeature",
        ),
        _Some("agog_core.tracing.functions.function", "function"),
        _Some("agog_data.examples.parsing", "parse_example", "parse_single_example"),
        _Some("agog_data.examples.sequences", "parse_single_sequence_example"),
        _Some("agog_data.readers.csv_fields", "decode_csv"),
        _Some(
            "agog_layers.weights.initializers",
            "constant_initializer",
            "glorot_normal_initializer",
            "glorot_uniform_initializer",
            "ones_initializer",
            "orthogonal_initializer",
            "random_normal_initializer",
            "random_uniform_initializer",
            "truncated_normal_initializer",
            "uniform_unit_scaling_initializer",
            "variance_scaling_initializer",
            "zeros_initializer",
        ),
        _Some("agog_layers.tf_layers.template", "make_template"),
        _Some(
            "agog_layers.tf_layers.variable_scope",
            "AUTO_REUSE",
            "VariableScope",
            "get_local_variable",
            "get_variable",
            "get_variable_scope",
            "no_regularizer",
            "variable_op_scope",
            "variable_scope",
        ),
        "agog_compat.collections",
        "agog_compat.critical_section",
        "agog_compat.graph_scopes",
        "agog_compat.replication",
        "agog_core.gradients.recompute",
        "agog_core.dispatch.devices.memory",
        "agog_core.observers.profiling",
        "agog_core.ops.control.clock",
        "agog_core.ops.conv.patches",
        "agog_core.ops.signal.fourier",
        "agog_core.ops.sorting.editing",
        "agog_core.ops.strings",
        "agog_core.tensors.tensor_spec",
        "agog_core.variables.module",
        _Refused("tf"),
    ],
)
__getattr__ = _taught(__name__, __getattr__)
