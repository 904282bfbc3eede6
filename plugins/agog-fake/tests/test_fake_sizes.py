"""Sizes: what programs compute of shapes stays on the host in the scope of any device."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import agog_core as ag
from agog_core.tensors.placement import MOST_SIZES

HOST, FAKE = "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:FAKE:0"
X = ag.constant(np.zeros((3, 4), np.float32))
SIZES: dict[str, tuple[Callable[[], ag.Tensor], list[int] | int]] = {
    "one": (lambda: ag.shape(X)[0], 3),
    "arithmetic": (lambda: ag.shape(X)[0] * 2 + 1, 7),
    "of two": (lambda: ag.shape(X)[0] - ag.shape(X)[1], -1),
    "product": (lambda: ag.reduce_prod(ag.shape(X)), 12),
    "quotient": (lambda: ag.shape(X) // 2, [1, 2]),
    "slice": (lambda: ag.shape(X)[1:], [4]),
    "stack": (lambda: ag.stack([ag.shape(X)[0], -1]), [3, -1]),
    "concat": (lambda: ag.concat([ag.shape(X)[:1], [2, 2]], 0), [3, 2, 2]),
    "int64": (lambda: ag.shape(X, out_type=ag.int64) + 1, [4, 5]),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_stay_on_the_host(name: str) -> None:
    compute, expected = SIZES[name]
    with ag.device("/fake:0"):
        y = compute()
    assert y.device == HOST
    assert y.numpy().tolist() == expected


def test_shapes_of_sizes_and_numbers() -> None:
    with ag.device("/fake:0"):
        y = ag.reshape(X, ag.stack([ag.shape(X)[1], -1]))
        padded = ag.pad(X, [[0, 5 - ag.shape(X)[0]], [1, 0]])
    assert (y.shape, y.device) == ((4, 3), FAKE)
    assert (padded.shape, padded.device) == ((5, 5), FAKE)


@pytest.mark.parametrize(
    "compute",
    [
        lambda: ag.cast(ag.shape(X)[0], ag.float32),
        lambda: ag.shape(X) + ag.constant([1, 1]),
        lambda: ag.constant(2) * 3,
        lambda: ag.stack([1, 2]),
        lambda: ag.square(X),
    ],
    ids=["of another dtype", "with a tensor of the device", "of a tensor of the device", "numbers", "floats"],
)
def test_what_is_no_size_goes_to_the_device(compute: Callable[[], ag.Tensor]) -> None:
    with ag.device("/fake:0"):
        assert compute().device == FAKE


@pytest.mark.parametrize(("shape", "where"), [((MOST_SIZES,), HOST), ((MOST_SIZES + 1,), FAKE), ((1, 1), FAKE)])
def test_sizes_are_few_and_no_matrix(shape: tuple[int, ...], where: str) -> None:
    x = ag.constant(np.zeros(shape, np.int32))
    with ag.device("/fake:0"):
        assert (x + x).device == where


def test_variables_are_joined_in_a_scope() -> None:
    v = ag.Variable([1.0, 2.0])
    with ag.device("/fake:0"):
        assert ag.concat([v, v], 0).device == FAKE
    n = ag.Variable([1, 2], dtype=ag.int32)
    with ag.device("/fake:0"):
        assert ag.concat([n, [3]], 0).numpy().tolist() == [1, 2, 3]
