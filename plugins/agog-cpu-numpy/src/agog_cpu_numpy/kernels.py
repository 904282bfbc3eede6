"""The reference kernels: NumPy's own functions, and those of agog-kernels-xp with NumPy as their array library."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from agog_cpu_numpy.backend import Array, numpy_dtype
from agog_kernels_xp import array, linalg, nn, random, reduction, training
from agog_kernels_xp import math as xp_math

Kernel = Callable[..., Any]


def _bind(kernel: Kernel) -> Kernel:
    """The kernel for NumPy."""
    return partial(kernel, np)


def _bind_dtype(kernel: Kernel, *first: Any) -> Kernel:
    """The kernel for NumPy, of an op whose attribute ``dtype`` is a dtype's name."""

    def with_dtype(*arrays: Array, dtype: str, **attributes: Any) -> Any:
        return kernel(np, *first, *arrays, dtype=numpy_dtype(dtype), **attributes)

    return with_dtype


abs = np.absolute
add = np.add
cos = np.cos
equal = np.equal
exp = np.exp
floor = np.floor
greater = np.greater
greater_equal = np.greater_equal
less = np.less
less_equal = np.less_equal
log = np.log
log1p = np.log1p
logical_and = np.logical_and
logical_not = np.logical_not
logical_or = np.logical_or
maximum = np.maximum
minimum = np.minimum
multiply = np.multiply
negative = np.negative
not_equal = np.not_equal
realdiv = np.true_divide
sign = np.sign
sin = np.sin
sqrt = np.sqrt
square = np.square
subtract = np.subtract
tanh = np.tanh

add_n = _bind(xp_math.add_n)
floordiv = _bind(xp_math.floordiv)
floormod = _bind(xp_math.floormod)
pow = _bind(xp_math.pow)
sigmoid = _bind(xp_math.sigmoid)

broadcast_to = _bind(array.broadcast_to)
cast = _bind_dtype(array.cast)
concat = _bind(array.concat)
fill = _bind_dtype(array.fill)
one_hot = _bind_dtype(array.one_hot)
range = _bind_dtype(array.range)
reshape = _bind(array.reshape)
split = _bind(array.split)
strided_slice = _bind(array.strided_slice)
strided_slice_grad = _bind(array.strided_slice_grad)
transpose = _bind(array.transpose)
where = _bind(array.where)

argmax = _bind_dtype(reduction.argmax)
reduce_all = _bind(reduction.reduce_all)
reduce_any = _bind(reduction.reduce_any)
reduce_max = _bind(reduction.reduce_max)
reduce_mean = _bind(reduction.reduce_mean)
reduce_min = _bind(reduction.reduce_min)
reduce_sum = _bind(reduction.reduce_sum)
sum_to = _bind(reduction.sum_to)

matmul = _bind(linalg.matmul)

log_softmax = _bind(nn.log_softmax)
relu = _bind(nn.relu)
relu_grad = _bind(nn.relu_grad)
softmax = _bind(nn.softmax)
softmax_cross_entropy = _bind(nn.softmax_cross_entropy)
sparse_softmax_cross_entropy = _bind(nn.sparse_softmax_cross_entropy)

apply_adam = _bind(training.apply_adam)
apply_add = _bind(training.apply_add)
apply_gradient_descent = _bind(training.apply_gradient_descent)
apply_momentum = _bind(training.apply_momentum)


def _bits(key: tuple[int, int, int], count: int) -> Array:
    """Random bits: ``count`` values of 64 bits, from the key's two words and its counter."""
    first, second, counter = key
    generator = np.random.Philox(
        key=np.array([first, second], np.uint64), counter=np.array([counter, 0, 0, 0], np.uint64)
    )
    return generator.random_raw(count)


random_integers = _bind_dtype(random.random_integers, _bits)
random_normal = _bind_dtype(random.random_normal, _bits)
random_uniform = _bind_dtype(random.random_uniform, _bits)
