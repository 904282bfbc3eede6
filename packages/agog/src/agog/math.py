"""``tf.math``: elementwise mathematics, reductions and special functions."""

from agog_compat.advice import face as _face
from agog_core.ops.array.complex import conj as conj
from agog_core.ops.array.complex import imag as imag
from agog_core.ops.array.complex import real as real
from agog_core.ops.control.assertions import is_non_decreasing as is_non_decreasing
from agog_core.ops.control.assertions import is_strictly_increasing as is_strictly_increasing
from agog_core.ops.indexing.segments import *
from agog_core.ops.indexing.sorted_segments import segment_max as segment_max
from agog_core.ops.indexing.sorted_segments import segment_mean as segment_mean
from agog_core.ops.indexing.sorted_segments import segment_min as segment_min
from agog_core.ops.indexing.sorted_segments import segment_prod as segment_prod
from agog_core.ops.indexing.sorted_segments import segment_sum as segment_sum
from agog_core.ops.math.arithmetic import abs as abs
from agog_core.ops.math.arithmetic import add as add
from agog_core.ops.math.arithmetic import add_n as add_n
from agog_core.ops.math.arithmetic import approximate_equal as approximate_equal
from agog_core.ops.math.arithmetic import cross as cross
from agog_core.ops.math.arithmetic import divide as divide
from agog_core.ops.math.arithmetic import floordiv as floordiv
from agog_core.ops.math.arithmetic import floormod as floormod
from agog_core.ops.math.arithmetic import floormod as mod
from agog_core.ops.math.arithmetic import maximum as maximum
from agog_core.ops.math.arithmetic import minimum as minimum
from agog_core.ops.math.arithmetic import multiply as multiply
from agog_core.ops.math.arithmetic import negative as negative
from agog_core.ops.math.arithmetic import sign as sign
from agog_core.ops.math.arithmetic import squared_difference as squared_difference
from agog_core.ops.math.arithmetic import subtract as subtract
from agog_core.ops.math.arithmetic import truediv as truediv
from agog_core.ops.math.division import div_no_nan as divide_no_nan
from agog_core.ops.math.division import reciprocal as reciprocal
from agog_core.ops.math.elementary import *
from agog_core.ops.math.elementary import softplus as softplus
from agog_core.ops.math.linear_combinations import *
from agog_core.ops.math.linear_combinations import polyval as polyval
from agog_core.ops.math.logic import equal as equal
from agog_core.ops.math.logic import greater as greater
from agog_core.ops.math.logic import greater_equal as greater_equal
from agog_core.ops.math.logic import is_finite as is_finite
from agog_core.ops.math.logic import is_inf as is_inf
from agog_core.ops.math.logic import is_nan as is_nan
from agog_core.ops.math.logic import less as less
from agog_core.ops.math.logic import less_equal as less_equal
from agog_core.ops.math.logic import logical_and as logical_and
from agog_core.ops.math.logic import logical_not as logical_not
from agog_core.ops.math.logic import logical_or as logical_or
from agog_core.ops.math.logic import logical_xor as logical_xor
from agog_core.ops.math.logic import not_equal as not_equal
from agog_core.ops.math.quotients import *
from agog_core.ops.math.rounding import *
from agog_core.ops.math.special import *
from agog_core.ops.math.special import bessel_i0 as bessel_i0
from agog_core.ops.math.special import bessel_i0e as bessel_i0e
from agog_core.ops.math.special import bessel_i1 as bessel_i1
from agog_core.ops.math.special import bessel_i1e as bessel_i1e
from agog_core.ops.math.trigonometric import *
from agog_core.ops.nn.activations import softsign as softsign
from agog_core.ops.nn.normalization import l2_normalize as l2_normalize
from agog_core.ops.nn.softmax import *
from agog_core.ops.reduce.extrema import argmax as argmax
from agog_core.ops.reduce.extrema import argmin as argmin
from agog_core.ops.reduce.extrema import reduce_max as reduce_max
from agog_core.ops.reduce.extrema import reduce_min as reduce_min
from agog_core.ops.reduce.moments import *
from agog_core.ops.reduce.moments import reduce_euclidean_norm as reduce_euclidean_norm
from agog_core.ops.reduce.moments import reduce_std as reduce_std
from agog_core.ops.reduce.moments import reduce_variance as reduce_variance
from agog_core.ops.reduce.moments import zero_fraction as zero_fraction
from agog_core.ops.reduce.reduction import *
from agog_core.ops.reduce.scans import *
from agog_core.ops.sorting.histogram import bincount as bincount
from agog_core.ops.sorting.histogram import confusion_matrix as confusion_matrix
from agog_core.ops.sorting.positions import invert_permutation as invert_permutation
from agog_core.ops.sorting.sorting import in_top_k as in_top_k
from agog_core.ops.sorting.sorting import top_k as top_k

_face(globals())
