"""``tf.keras.ops``: Keras's names for ops."""

from agog_compat.advice import face as _face
from agog_core import abs as abs
from agog_core import abs as absolute
from agog_core import acos as arccos
from agog_core import acosh as arccosh
from agog_core import add as add
from agog_core import asin as arcsin
from agog_core import asinh as arcsinh
from agog_core import atan as arctan
from agog_core import atan2 as arctan2
from agog_core import atanh as arctanh
from agog_core import broadcast_to as broadcast_to
from agog_core import cast as cast
from agog_core import ceil as ceil
from agog_core import cholesky as cholesky
from agog_core import cond as cond
from agog_core import conj as conj
from agog_core import conj as conjugate
from agog_core import convert_to_tensor as convert_to_tensor
from agog_core import cos as cos
from agog_core import cosh as cosh
from agog_core import cross as cross
from agog_core import custom_gradient as custom_gradient
from agog_core import divide as divide
from agog_core import einsum as einsum
from agog_core import equal as equal
from agog_core import erf as erf
from agog_core import erfc as erfc
from agog_core import exp as exp
from agog_core import expm1 as expm1
from agog_core import floor as floor
from agog_core import floordiv as floor_divide
from agog_core import greater as greater
from agog_core import greater_equal as greater_equal
from agog_core import identity as copy
from agog_core import imag as imag
from agog_core import is_finite as isfinite
from agog_core import is_inf as isinf
from agog_core import is_nan as isnan
from agog_core import less as less
from agog_core import less_equal as less_equal
from agog_core import log as log
from agog_core import log1p as log1p
from agog_core import logical_and as logical_and
from agog_core import logical_not as logical_not
from agog_core import logical_or as logical_or
from agog_core import logical_xor as logical_xor
from agog_core import map_fn as map
from agog_core import matmul as matmul
from agog_core import matrix_determinant as det
from agog_core import matrix_inverse as inv
from agog_core import maximum as maximum
from agog_core import meshgrid as meshgrid
from agog_core import minimum as minimum
from agog_core import mod as mod
from agog_core import multiply as multiply
from agog_core import negative as negative
from agog_core import not_equal as not_equal
from agog_core import ones as ones
from agog_core import ones_like as ones_like
from agog_core import pow as power
from agog_core import real as real
from agog_core import reciprocal as reciprocal
from agog_core import reduce_all as all
from agog_core import reduce_any as any
from agog_core import reduce_logsumexp as logsumexp
from agog_core import reduce_max as amax
from agog_core import reduce_max as max
from agog_core import reduce_min as amin
from agog_core import reduce_min as min
from agog_core import reshape as reshape
from agog_core import rsqrt as rsqrt
from agog_core import saturate_cast as saturate_cast
from agog_core import self_adjoint_eig as eigh
from agog_core import sigmoid as sigmoid
from agog_core import sign as sign
from agog_core import sin as sin
from agog_core import sinh as sinh
from agog_core import slice as slice
from agog_core import sort as sort
from agog_core import sqrt as sqrt
from agog_core import square as square
from agog_core import squeeze as squeeze
from agog_core import stack as stack
from agog_core import stop_gradient as stop_gradient
from agog_core import subtract as subtract
from agog_core import tan as tan
from agog_core import tanh as tanh
from agog_core import tensor_scatter_update as scatter_update
from agog_core import tensordot as tensordot
from agog_core import transpose as transpose
from agog_core import truediv as true_divide
from agog_core import unstack as unstack
from agog_core import while_loop as while_loop
from agog_core import zeros as zeros
from agog_core import zeros_like as zeros_like
from agog_core.array_api import diff as diff
from agog_core.array_api import empty_like as empty_like
from agog_core.array_api import log2 as log2
from agog_core.array_api import log10 as log10
from agog_core.array_api import logaddexp as logaddexp
from agog_core.array_api import moveaxis as moveaxis
from agog_core.array_api import trunc as trunc
from agog_core.ops.indexing.repeating import repeat as repeat
from agog_core.ops.nn import relu as relu
from agog_core.ops.nn import relu6 as relu6
from agog_core.ops.nn import selu as selu
from agog_core.ops.nn import softplus as softplus
from agog_core.ops.nn import softsign as softsign
from agog_core.ops.nn import swish as silu
from agog_core.ops.nn import swish as swish
from agog_keras.ops.activations import *
from agog_keras.ops.arrays import *
from agog_keras.ops.attention import *
from agog_keras.ops.creation import *
from agog_keras.ops.dtypes import promote as _promote
from agog_keras.ops.matrices import *
from agog_keras.ops.nn import *
from agog_keras.ops.places import *
from agog_keras.ops.reductions import *
from agog_keras.ops.selection import *
from agog_keras.ops.statistics import *
from agog_layers.activations.piecewise import hard_shrink as hard_shrink
from agog_layers.activations.piecewise import hard_silu as hard_silu
from agog_layers.activations.piecewise import hard_silu as hard_swish
from agog_layers.activations.piecewise import hard_tanh as hard_tanh
from agog_layers.activations.piecewise import soft_shrink as soft_shrink
from agog_layers.activations.piecewise import sparse_plus as sparse_plus
from agog_layers.activations.piecewise import sparse_sigmoid as sparse_sigmoid
from agog_layers.activations.piecewise import threshold as threshold
from agog_layers.activations.smooth import celu as celu
from agog_layers.activations.smooth import glu as glu
from agog_layers.activations.smooth import log_sigmoid as log_sigmoid
from agog_layers.activations.smooth import sparsemax as sparsemax
from agog_layers.activations.smooth import squareplus as squareplus
from agog_layers.activations.smooth import tanh_shrink as tanh_shrink
from agog_layers.layer.function_layer import take_symbols as _take_symbols

_face(globals())
_promote(globals())

# These take functions, or say what needs no value.
_take_symbols(
    globals(),
    without=["cond", "convert_to_numpy", "custom_gradient", "fori_loop", "map", "ndim", "shape", "while_loop"],
)
