"""``tf.keras.backend``: what layers and losses of a program are written with, over ops."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.backend import (
    arange,
    batch_flatten,
    batch_get_value,
    batch_set_value,
    binary_crossentropy,
    cast_to_floatx,
    count_params,
    dot,
    dtype,
    flatten,
    get_value,
    int_shape,
    is_keras_tensor,
    l2_normalize,
    ndim,
    repeat_elements,
    set_value,
    update,
    update_add,
    update_sub,
    variable,
)
from agog_compat.newer.settings import (
    backend,
    clear_session,
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)
from agog_core.ops.array.casting import cast
from agog_core.ops.array.creation import one_hot, ones, ones_like, zeros, zeros_like
from agog_core.ops.array.joining import concat as concatenate
from agog_core.ops.array.joining import stack
from agog_core.ops.array.reshaping import expand_dims, reshape, shape, squeeze, stop_gradient, transpose
from agog_core.ops.array.reshaping import transpose as permute_dimensions
from agog_core.ops.array.reversing import reverse
from agog_core.ops.array.tiling import tile
from agog_core.ops.control.control import cond as switch
from agog_core.ops.control.map_and_scan import foldl, foldr, map_fn
from agog_core.ops.indexing.gathering import gather
from agog_core.ops.linalg.diagonal import eye
from agog_core.ops.math.arithmetic import abs, maximum, minimum, sign
from agog_core.ops.math.clipping import clip_by_value as clip
from agog_core.ops.math.elementary import cos, exp, log, pow, sigmoid, sin, sqrt, square, tanh
from agog_core.ops.math.logic import equal, greater, greater_equal, less, less_equal, not_equal
from agog_core.ops.math.rounding import round
from agog_core.ops.nn import relu, softmax, softplus, softsign
from agog_core.ops.random.uniform_and_normal import random_normal, random_uniform, truncated_normal
from agog_core.ops.reduce.extrema import argmax, argmin
from agog_core.ops.reduce.extrema import reduce_max as max
from agog_core.ops.reduce.extrema import reduce_min as min
from agog_core.ops.reduce.moments import reduce_std as std
from agog_core.ops.reduce.moments import reduce_variance as var
from agog_core.ops.reduce.reduction import reduce_all as all
from agog_core.ops.reduce.reduction import reduce_any as any
from agog_core.ops.reduce.reduction import reduce_mean as mean
from agog_core.ops.reduce.reduction import reduce_prod as prod
from agog_core.ops.reduce.reduction import reduce_sum as sum
from agog_core.ops.reduce.scans import cumprod, cumsum
from agog_core.tensors.constant import constant
from agog_core.variables.name_scope import name_scope
from agog_layers.base.activations import elu, hard_sigmoid
from agog_layers.base.learning_phase import (
    in_test_phase,
    in_train_phase,
    learning_phase,
    learning_phase_scope,
    set_learning_phase,
)
from agog_layers.losses.classification import categorical_crossentropy, sparse_categorical_crossentropy

__all__ = [
    "abs",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "backend",
    "batch_flatten",
    "batch_get_value",
    "batch_set_value",
    "binary_crossentropy",
    "cast",
    "cast_to_floatx",
    "categorical_crossentropy",
    "clear_session",
    "clip",
    "concatenate",
    "constant",
    "cos",
    "count_params",
    "cumprod",
    "cumsum",
    "dot",
    "dtype",
    "elu",
    "epsilon",
    "equal",
    "exp",
    "expand_dims",
    "eye",
    "flatten",
    "floatx",
    "foldl",
    "foldr",
    "gather",
    "get_value",
    "greater",
    "greater_equal",
    "hard_sigmoid",
    "image_data_format",
    "in_test_phase",
    "in_train_phase",
    "int_shape",
    "is_keras_tensor",
    "l2_normalize",
    "learning_phase",
    "learning_phase_scope",
    "less",
    "less_equal",
    "log",
    "map_fn",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "name_scope",
    "ndim",
    "not_equal",
    "one_hot",
    "ones",
    "ones_like",
    "permute_dimensions",
    "pow",
    "prod",
    "random_normal",
    "random_uniform",
    "relu",
    "repeat_elements",
    "reshape",
    "reverse",
    "round",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_learning_phase",
    "set_value",
    "shape",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "softplus",
    "softsign",
    "sparse_categorical_crossentropy",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "stop_gradient",
    "sum",
    "switch",
    "tanh",
    "tile",
    "transpose",
    "truncated_normal",
    "update",
    "update_add",
    "update_sub",
    "var",
    "variable",
    "zeros",
    "zeros_like",
]

__getattr__ = _taught(__name__)
