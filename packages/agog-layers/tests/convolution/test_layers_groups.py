"""Convolutions whose channels are filtered in groups."""

from __future__ import annotations

import numpy as np

from agog_layers import Conv1D, Conv2D, LocallyConnected1D
from agog_testing import says


def test_each_group_has_kernels_of_its_own() -> None:
    random = np.random.RandomState(0)
    x, kernel, bias = random.rand(2, 5, 6), random.rand(3, 2, 9), random.rand(9)
    layer = Conv1D(9, 3, groups=3)
    layer(np.float32(x))
    layer.set_weights([kernel, bias])
    expected = np.zeros((2, 3, 9))
    for out in range(9):
        inputs = x[:, :, out // 3 * 2 : out // 3 * 2 + 2]
        for place in range(3):
            expected[:, place, out] = np.sum(inputs[:, place : place + 3] * kernel[:, :, out], (1, 2)) + bias[out]
    np.testing.assert_allclose(layer(np.float32(x)).numpy(), expected, rtol=1e-5)
    assert Conv1D.from_config(layer.get_config()).groups == 3


def test_what_does_not_make_groups() -> None:
    with says(ValueError, "Conv2D: filters must be a multiple of groups; got 4 and 3."):
        Conv2D(4, 3, groups=3)
    with says(ValueError, "Conv2D layer 'c': the number of channels must be a multiple of groups; got 3 and 2."):
        Conv2D(4, 1, groups=2, name="c")(np.ones((1, 2, 2, 3), np.float32))
    with says(ValueError, "LocallyConnected1D: groups must be 1, since each place has a kernel of its own; got 2."):
        LocallyConnected1D(4, 1, groups=2)
