"""``tf.keras.ops``: Keras's names for ops."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.arrays import repeat
from agog_compat.newer.keras_activations import (
    elu,
    gelu,
    hard_sigmoid,
    leaky_relu,
    log_softmax,
    softmax,
)
from agog_compat.newer.keras_arrays import (
    append,
    cbrt,
    deg2rad,
    diag,
    diagonal,
    dot,
    exp2,
    fliplr,
    flipud,
    full_like,
    hstack,
    inner,
    outer,
    rad2deg,
    ravel,
    swapaxes,
    tri,
    vdot,
    vstack,
)
from agog_compat.newer.keras_dtypes import promote as _promote
from agog_compat.newer.keras_making import (
    arange,
    array,
    empty,
    eye,
    full,
    linspace,
    logspace,
    round,
)
from agog_compat.newer.keras_matrices import (
    qr,
    solve,
    solve_triangular,
    svd,
)
from agog_compat.newer.keras_moving import (
    argsort,
    clip,
    cumprod,
    cumsum,
    expand_dims,
    flip,
    isin,
    nonzero,
    pad,
    roll,
    searchsorted,
    take,
    take_along_axis,
    tile,
    top_k,
    tril,
    triu,
    where,
)
from agog_compat.newer.keras_networks import (
    average_pool,
    binary_crossentropy,
    categorical_crossentropy,
    conv,
    in_top_k,
    max_pool,
    multi_hot,
    normalize,
    rms_normalization,
    scatter,
    segment_max,
    segment_sum,
    slice_update,
    sparse_categorical_crossentropy,
)
from agog_compat.newer.keras_ops import (
    argmax,
    argmin,
    concatenate,
    convert_to_numpy,
    fori_loop,
    ndim,
    one_hot,
    shape,
    size,
    split,
)
from agog_compat.newer.keras_reductions import (
    angle,
    average,
    bincount,
    count_nonzero,
    mean,
    moments,
    norm,
    prod,
    std,
    sum,
    trace,
    var,
)
from agog_compat.newer.keras_statistics import allclose, isclose, median, nan_to_num, nanmean, nansum, quantile
from agog_core import (
    abs,
    add,
    broadcast_to,
    cast,
    ceil,
    cholesky,
    cond,
    convert_to_tensor,
    cos,
    cosh,
    cross,
    custom_gradient,
    divide,
    einsum,
    equal,
    erf,
    erfc,
    exp,
    expm1,
    floor,
    greater,
    greater_equal,
    less,
    less_equal,
    log,
    log1p,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    matmul,
    maximum,
    meshgrid,
    minimum,
    mod,
    multiply,
    negative,
    not_equal,
    ones,
    ones_like,
    reciprocal,
    reshape,
    rsqrt,
    saturate_cast,
    sigmoid,
    sign,
    sin,
    sinh,
    sort,
    sqrt,
    square,
    squeeze,
    stack,
    stop_gradient,
    subtract,
    tan,
    tanh,
    tensordot,
    transpose,
    unstack,
    while_loop,
    zeros,
    zeros_like,
)
from agog_core import abs as absolute
from agog_core import acos as arccos
from agog_core import acosh as arccosh
from agog_core import asin as arcsin
from agog_core import asinh as arcsinh
from agog_core import atan as arctan
from agog_core import atan2 as arctan2
from agog_core import atanh as arctanh
from agog_core import conj as conj
from agog_core import conj as conjugate
from agog_core import floordiv as floor_divide
from agog_core import identity as copy
from agog_core import imag as imag
from agog_core import is_finite as isfinite
from agog_core import is_inf as isinf
from agog_core import is_nan as isnan
from agog_core import map_fn as map
from agog_core import matrix_determinant as det
from agog_core import matrix_inverse as inv
from agog_core import pow as power
from agog_core import real as real
from agog_core import reduce_all as all
from agog_core import reduce_any as any
from agog_core import reduce_logsumexp as logsumexp
from agog_core import reduce_max as amax
from agog_core import reduce_max as max
from agog_core import reduce_min as amin
from agog_core import reduce_min as min
from agog_core import self_adjoint_eig as eigh
from agog_core import slice as slice
from agog_core import tensor_scatter_update as scatter_update
from agog_core import truediv as true_divide
from agog_core.array_api import diff as diff
from agog_core.array_api import empty_like as empty_like
from agog_core.array_api import log2 as log2
from agog_core.array_api import log10 as log10
from agog_core.array_api import logaddexp as logaddexp
from agog_core.array_api import moveaxis as moveaxis
from agog_core.array_api import trunc as trunc
from agog_core.exports import export as _export
from agog_core.ops.nn import relu, relu6, selu, softplus, softsign
from agog_core.ops.nn import swish as silu
from agog_core.ops.nn import swish as swish
from agog_layers.base.gating import celu, glu, log_sigmoid, sparsemax, squareplus, tanh_shrink
from agog_layers.base.piecewise import (
    hard_shrink,
    hard_silu,
    hard_tanh,
    soft_shrink,
    sparse_plus,
    sparse_sigmoid,
    threshold,
)
from agog_layers.base.piecewise import hard_silu as hard_swish
from agog_layers.layer.called import take_symbols as _take_symbols

_export(globals())
_promote(globals())

# These take functions, or say what needs no value.
_take_symbols(
    globals(),
    without=["cond", "convert_to_numpy", "custom_gradient", "fori_loop", "map", "ndim", "shape", "while_loop"],
)

__getattr__ = _taught(__name__)
