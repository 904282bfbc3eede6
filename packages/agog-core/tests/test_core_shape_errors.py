"""The errors of ops that only move elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import agog_core as ag
from agog_testing import says


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: ag.tile([[1]], [2]),
            ag.errors.InvalidArgumentError,
            "tile: a tensor of shape (1, 1) needs 2 multiples, none of them negative; got [2].",
        ),
        (lambda: ag.meshgrid([1], indexing="yx"), ValueError, "meshgrid: indexing is 'yx'; use 'xy' or 'ij'."),
        (
            lambda: ag.reverse([1], [1]),
            ag.errors.InvalidArgumentError,
            "reverse: axis 1 is out of range for a tensor of rank 1; use -1 to 0.",
        ),
        (
            lambda: ag.roll([1], [1], 0),
            ag.errors.InvalidArgumentError,
            "roll: shift and axis must be scalars or vectors of one length; got shapes (1,) and ().",
        ),
        (
            lambda: ag.space_to_depth(ag.zeros([1, 3, 4, 1]), 2),
            ag.errors.InvalidArgumentError,
            "space_to_depth: height 3 and width 4 of the input of shape (1, 3, 4, 1) must be multiples of "
            "block_size 2.",
        ),
        (
            lambda: ag.space_to_depth(ag.zeros([3, 4, 1]), 2),
            ag.errors.InvalidArgumentError,
            "space_to_depth: the input must be of rank 4; got shape (3, 4, 1).",
        ),
        (
            lambda: ag.depth_to_space(ag.zeros([1, 1, 1, 6]), 2),
            ag.errors.InvalidArgumentError,
            "depth_to_space: the 6 channels of the input of shape (1, 1, 1, 6) must be a multiple of 4, the square of "
            "block_size 2.",
        ),
        (
            lambda: ag.depth_to_space(ag.zeros([1, 1, 1, 6]), 1),
            ag.errors.InvalidArgumentError,
            "depth_to_space: block_size must be at least 2; got 1.",
        ),
        (
            lambda: ag.depth_to_space(ag.zeros([1, 1, 1, 6]), 2, data_format="CHWN"),
            ag.errors.InvalidArgumentError,
            "depth_to_space: data_format is 'CHWN'; use 'NHWC' or 'NCHW'.",
        ),
        (
            lambda: ag.space_to_batch_nd(ag.zeros([1, 3]), [2], [[0, 0]]),
            ag.errors.InvalidArgumentError,
            "space_to_batch_nd: the padded spatial sizes (3,) must be multiples of block_shape (2,).",
        ),
        (
            lambda: ag.space_to_batch_nd(ag.zeros([1]), [2], [[0, 0]]),
            ag.errors.InvalidArgumentError,
            "space_to_batch_nd: block_shape must be a vector of positive sizes, one for each spatial axis; got [2] for "
            "an input of shape (1,).",
        ),
        (
            lambda: ag.batch_to_space_nd(ag.zeros([3, 3]), [2], [[0, 0]]),
            ag.errors.InvalidArgumentError,
            "batch_to_space_nd: the batch 3 must be a multiple of 2, the size of block_shape (2,).",
        ),
        (
            lambda: ag.batch_to_space_nd(ag.zeros([2, 1]), [2], [[2, 1]]),
            ag.errors.InvalidArgumentError,
            "batch_to_space_nd: crops ((2, 1),) are larger than the spatial sizes (2,).",
        ),
        (
            lambda: ag.batch_to_space_nd(ag.zeros([2, 1]), [2], [[0, 0], [0, 0]]),
            ag.errors.InvalidArgumentError,
            "batch_to_space_nd: crops must be integers of shape (1, 2); got shape (2, 2).",
        ),
        (
            lambda: ag.required_space_to_batch_paddings([1, 2], [2]),
            ag.errors.InvalidArgumentError,
            "required_space_to_batch_paddings: input_shape and block_shape must be vectors of one length; got shapes "
            "(2,) and (1,).",
        ),
        (
            lambda: ag.matrix_diag(1),
            ag.errors.InvalidArgumentError,
            "matrix_diag: diagonal must be a vector or a batch of them; got a scalar.",
        ),
        (
            lambda: ag.matrix_diag_part([1]),
            ag.errors.InvalidArgumentError,
            "matrix_diag_part: input must be a matrix or a batch of them; got shape (1,).",
        ),
        (
            lambda: ag.matrix_set_diag([[1, 2]], [1, 2]),
            ag.errors.InvalidArgumentError,
            "matrix_set_diag: diagonal must have shape (1,) for an input of shape (1, 2); got shape (2,).",
        ),
        (
            lambda: ag.matrix_band_part([[1, 2]], 2, 0),
            ag.errors.InvalidArgumentError,
            "matrix_band_part: num_lower is 2; it must be negative or at most 1 for an input of shape (1, 2).",
        ),
        (
            lambda: ag.diag(1),
            ag.errors.InvalidArgumentError,
            "diag: diagonal must be of rank 1 at least; got a scalar.",
        ),
        (
            lambda: ag.diag_part([[1, 2]]),
            ag.errors.InvalidArgumentError,
            "diag_part: the shape of the input must be one shape twice, such as (2, 3, 2, 3); got (1, 2).",
        ),
        (
            lambda: ag.ensure_shape([1, 2], [3]),
            ag.errors.InvalidArgumentError,
            "ensure_shape: x has shape (2,), but shape (3,) is expected.",
        ),
        (
            lambda: ag.expand_dims([1]),
            ValueError,
            "expand_dims: axis is missing; give the position of the new axis.",
        ),
        (
            lambda: ag.expand_dims([1], 0, dim=0),
            ValueError,
            "expand_dims: axis and dim are one argument under two names; give one of them.",
        ),
        (
            lambda: ag.squeeze([1], 0, squeeze_dims=0),
            ValueError,
            "squeeze: axis and squeeze_dims are one argument under two names; give one of them.",
        ),
        (
            lambda: ag.pad([1, 2], [[1, 1]], constant_values=1.5),
            TypeError,
            "pad: constant_values is 1.5, which does not fit tensor of dtype int32; cast tensor, such as "
            "tf.cast(tensor, tf.float32).",
        ),
        (
            lambda: ag.pad([1.0], [[1, 1]], constant_values=ag.constant(1)),
            ag.errors.InvalidArgumentError,
            "pad: tensor has dtype float32 and constant_values has dtype int32 (shapes (1,) and ()), but they must be "
            "of one dtype; cast one of them, such as tf.cast(constant_values, tf.float32).",
        ),
        (lambda: ag.stack([[1], [2]], axis=2), ValueError, "stack: axis = 2 not in [-2, 2)."),
        (lambda: ag.unstack([[1], [2]], axis=-3), ValueError, "unstack: axis = -3 not in [-2, 2)."),
        (
            lambda: ag.unstack([[1], [2]], num=3),
            ag.errors.InvalidArgumentError,
            "unstack: num is 3, but axis 0 of a tensor of shape (2, 1) has size 2.",
        ),
        (
            lambda: ag.strided_slice([1, 2], [1], [0], [-1], shrink_axis_mask=1),
            ag.errors.InvalidArgumentError,
            "strided_slice: entry 0 is a single position, so its stride must be positive; got -1.",
        ),
    ],
)
def test_errors(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with says(kind, text) as caught:
        call()
    assert type(caught.value) is kind
