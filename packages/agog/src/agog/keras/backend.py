"""``tf.keras.backend``: what layers and losses of a program are written with, over ops."""

from agog_compat.advice import face as _face
from agog_core.ops.array.casting import cast as cast
from agog_core.ops.array.creation import ones_like as ones_like
from agog_core.ops.array.creation import zeros_like as zeros_like
from agog_core.ops.array.joining import stack as stack
from agog_core.ops.array.reshaping import reshape as reshape
from agog_core.ops.array.reshaping import shape as shape
from agog_core.ops.array.reshaping import squeeze as squeeze
from agog_core.ops.array.reshaping import stop_gradient as stop_gradient
from agog_core.ops.array.reshaping import transpose as transpose
from agog_core.ops.control.map_and_scan import foldl as foldl
from agog_core.ops.control.map_and_scan import foldr as foldr
from agog_core.ops.control.map_and_scan import map_fn as map_fn
from agog_core.ops.indexing.gathering import gather as gather
from agog_core.ops.linalg.diagonal import eye as eye
from agog_core.ops.math.arithmetic import abs as abs
from agog_core.ops.math.arithmetic import maximum as maximum
from agog_core.ops.math.arithmetic import minimum as minimum
from agog_core.ops.math.arithmetic import sign as sign
from agog_core.ops.math.elementary import cos as cos
from agog_core.ops.math.elementary import exp as exp
from agog_core.ops.math.elementary import log as log
from agog_core.ops.math.elementary import sigmoid as sigmoid
from agog_core.ops.math.elementary import sin as sin
from agog_core.ops.math.elementary import sqrt as sqrt
from agog_core.ops.math.elementary import square as square
from agog_core.ops.math.elementary import tanh as tanh
from agog_core.ops.math.logic import equal as equal
from agog_core.ops.math.logic import greater as greater
from agog_core.ops.math.logic import greater_equal as greater_equal
from agog_core.ops.math.logic import less as less
from agog_core.ops.math.logic import less_equal as less_equal
from agog_core.ops.math.logic import not_equal as not_equal
from agog_core.ops.math.rounding import round as round
from agog_core.ops.nn import softmax as softmax
from agog_core.ops.nn import softplus as softplus
from agog_core.ops.nn import softsign as softsign
from agog_core.ops.random.uniform_and_normal import random_normal as random_normal
from agog_core.ops.random.uniform_and_normal import random_uniform as random_uniform
from agog_core.ops.random.uniform_and_normal import truncated_normal as truncated_normal
from agog_core.ops.reduce.extrema import reduce_max as max
from agog_core.ops.reduce.extrema import reduce_min as min
from agog_core.ops.reduce.moments import reduce_std as std
from agog_core.ops.reduce.moments import reduce_variance as var
from agog_core.ops.reduce.reduction import reduce_all as all
from agog_core.ops.reduce.reduction import reduce_any as any
from agog_core.ops.reduce.reduction import reduce_prod as prod
from agog_core.ops.reduce.reduction import reduce_sum as sum
from agog_core.ops.reduce.scans import *
from agog_core.ops.sorting.sorting import in_top_k as in_top_k
from agog_core.variables.name_scope import name_scope as name_scope
from agog_keras.backend.convolutions import *
from agog_keras.backend.defaults import *
from agog_keras.backend.normalization import *
from agog_keras.backend.sequences import *
from agog_keras.backend.shapes import *
from agog_keras.backend.tensors import *
from agog_keras.backend.values import *
from agog_keras.settings import *
from agog_layers.activations.piecewise import hard_sigmoid as hard_sigmoid
from agog_layers.activations.smooth import elu as elu
from agog_layers.calls.learning_phase import in_test_phase as in_test_phase
from agog_layers.calls.learning_phase import in_train_phase as in_train_phase
from agog_layers.calls.learning_phase import learning_phase as learning_phase
from agog_layers.calls.learning_phase import learning_phase_scope as learning_phase_scope
from agog_layers.calls.learning_phase import set_learning_phase as set_learning_phase
from agog_layers.layer.function_layer import take_symbols as _take_symbols
from agog_layers.losses.classification import categorical_crossentropy as categorical_crossentropy
from agog_layers.losses.classification import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from agog_layers.models.function import function as function

_face(globals())

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
