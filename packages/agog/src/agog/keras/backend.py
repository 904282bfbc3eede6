"""``tf.keras.backend``: what layers and losses of a program are written with, over ops."""

from agog_compat.advice import taught as _taught
from agog_compat.keras_backend.convolutions import (
    conv1d,
    conv2d,
    conv2d_transpose,
    conv3d,
    depthwise_conv2d,
    pool2d,
    pool3d,
    separable_conv2d,
)
from agog_compat.keras_backend.normalizing import (
    batch_normalization,
    normalize_batch_in_training,
)
from agog_compat.keras_backend.renamed import (
    argmax,
    argmin,
    clip,
    concatenate,
    constant,
    expand_dims,
    mean,
    one_hot,
    ones,
    permute_dimensions,
    pow,
    reverse,
    switch,
    tile,
    zeros,
)
from agog_compat.keras_backend.sequences import (
    ctc_batch_cost,
    ctc_decode,
    ctc_label_dense_to_sparse,
    rnn,
)
from agog_compat.keras_backend.shaping import (
    batch_dot,
    bias_add,
    repeat,
    resize_images,
    resize_volumes,
    spatial_2d_padding,
    spatial_3d_padding,
    temporal_padding,
)
from agog_compat.keras_backend.values import (
    dropout,
    eval,
    get_uid,
    is_sparse,
    moving_average_update,
    print_tensor,
    random_binomial,
    random_normal_variable,
    random_uniform_variable,
    relu,
    reset_uids,
    to_dense,
)
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
from agog_core.ops.array.creation import ones_like, zeros_like
from agog_core.ops.array.joining import stack
from agog_core.ops.array.reshaping import reshape, shape, squeeze, stop_gradient, transpose
from agog_core.ops.control.map_and_scan import foldl, foldr, map_fn
from agog_core.ops.indexing.gathering import gather
from agog_core.ops.linalg.diagonal import eye
from agog_core.ops.math.arithmetic import abs, maximum, minimum, sign
from agog_core.ops.math.elementary import cos, exp, log, sigmoid, sin, sqrt, square, tanh
from agog_core.ops.math.logic import equal, greater, greater_equal, less, less_equal, not_equal
from agog_core.ops.math.rounding import round
from agog_core.ops.nn import softmax, softplus, softsign
from agog_core.ops.random.uniform_and_normal import random_normal, random_uniform, truncated_normal
from agog_core.ops.reduce.extrema import reduce_max as max
from agog_core.ops.reduce.extrema import reduce_min as min
from agog_core.ops.reduce.moments import reduce_std as std
from agog_core.ops.reduce.moments import reduce_variance as var
from agog_core.ops.reduce.reduction import reduce_all as all
from agog_core.ops.reduce.reduction import reduce_any as any
from agog_core.ops.reduce.reduction import reduce_prod as prod
from agog_core.ops.reduce.reduction import reduce_sum as sum
from agog_core.ops.reduce.scans import cumprod, cumsum
from agog_core.ops.sorting.sorting import in_top_k
from agog_core.variables.name_scope import name_scope
from agog_layers.base.activations import elu, hard_sigmoid
from agog_layers.base.learning_phase import (
    in_test_phase,
    in_train_phase,
    learning_phase,
    learning_phase_scope,
    set_learning_phase,
)
from agog_layers.layer.called import take_symbols as _take_symbols
from agog_layers.losses.classification import categorical_crossentropy, sparse_categorical_crossentropy
from agog_layers.models.function import function

__all__ = [
    "abs",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "backend",
    "batch_dot",
    "batch_flatten",
    "batch_get_value",
    "batch_normalization",
    "batch_set_value",
    "bias_add",
    "binary_crossentropy",
    "cast",
    "cast_to_floatx",
    "categorical_crossentropy",
    "clear_session",
    "clip",
    "concatenate",
    "constant",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "cos",
    "count_params",
    "ctc_batch_cost",
    "ctc_decode",
    "ctc_label_dense_to_sparse",
    "cumprod",
    "cumsum",
    "depthwise_conv2d",
    "dot",
    "dropout",
    "dtype",
    "elu",
    "epsilon",
    "equal",
    "eval",
    "exp",
    "expand_dims",
    "eye",
    "flatten",
    "floatx",
    "foldl",
    "foldr",
    "function",
    "gather",
    "get_uid",
    "get_value",
    "greater",
    "greater_equal",
    "hard_sigmoid",
    "image_data_format",
    "in_test_phase",
    "in_top_k",
    "in_train_phase",
    "int_shape",
    "is_keras_tensor",
    "is_sparse",
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
    "moving_average_update",
    "name_scope",
    "ndim",
    "normalize_batch_in_training",
    "not_equal",
    "one_hot",
    "ones",
    "ones_like",
    "permute_dimensions",
    "pool2d",
    "pool3d",
    "pow",
    "print_tensor",
    "prod",
    "random_binomial",
    "random_normal",
    "random_normal_variable",
    "random_uniform",
    "random_uniform_variable",
    "relu",
    "repeat",
    "repeat_elements",
    "reset_uids",
    "reshape",
    "resize_images",
    "resize_volumes",
    "reverse",
    "rnn",
    "round",
    "separable_conv2d",
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
    "spatial_2d_padding",
    "spatial_3d_padding",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "stop_gradient",
    "sum",
    "switch",
    "tanh",
    "temporal_padding",
    "tile",
    "to_dense",
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

# These make or change variables, keep settings, take functions, or say what needs no value.
_take_symbols(
    globals(),
    without=[
        *("backend", "clear_session", "count_params", "epsilon", "floatx", "get_uid", "image_data_format"),
        *("learning_phase", "learning_phase_scope", "name_scope", "reset_uids", "set_epsilon", "set_floatx"),
        *("set_image_data_format", "set_learning_phase"),
        *("batch_get_value", "batch_set_value", "eval", "get_value", "moving_average_update", "set_value", "update"),
        *("random_normal_variable", "random_uniform_variable", "update_add", "update_sub", "variable"),
        *("foldl", "foldr", "function", "in_test_phase", "in_train_phase", "map_fn", "rnn", "switch"),
        *("dtype", "int_shape", "is_keras_tensor", "is_sparse", "ndim"),
    ],
    room="backend",
)

__getattr__ = _taught(__name__)
