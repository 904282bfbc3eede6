"""Transposing on the host, against NumPy's."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from agog_cuda_cupy.cuda import transpose


def _numbers(shape: tuple[int, ...], dtype: str = "float32") -> Any:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["bool", "float16", "int32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (32, 32), (70, 33), (3, 100)])
def test_matrices_are_turned(modules: Any, order: str, shape: tuple[int, int], dtype: str) -> None:
    x = _numbers(shape, dtype)
    found = transpose.transpose(modules, x, perm=(1, 0))
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, x.T, strict=True)


@pytest.mark.parametrize("perm", [*permutations(range(4))])
def test_axes_are_put_in_any_order(modules: Any, order: str, perm: tuple[int, ...]) -> None:
    for shape in ((2, 3, 4, 5), (2, 1, 4, 1), (3, 35, 2, 1)):
        x = _numbers(shape)
        found = transpose.transpose(modules, x, perm=perm)
        np.testing.assert_array_equal(found, x.transpose(perm), strict=True)


@pytest.mark.parametrize("perm", [*permutations(range(4))])
def test_views_are_laid_out(modules: Any, perm: tuple[int, ...]) -> None:
    x = _numbers((2, 5, 33, 3)).transpose(perm)
    for view in (x, x[1:], x[..., ::-1], x[:, :1], x[:0], np.broadcast_to(x[:1], x.shape)):
        found = transpose.contiguous(modules, view)
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found, view, strict=True)


def test_what_lies_in_one_piece_stays_where_it_is(modules: Any) -> None:
    x = _numbers((3, 4))
    assert transpose.contiguous(modules, x) is x
    assert transpose.transpose(modules, np.array(3.0), perm=()).tolist() == 3
    assert transpose.transpose(modules, x[:0], perm=(1, 0)).shape == (4, 0)


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    assert transpose.transpose(modules, _numbers((3, 4)).T, perm=(1, 0)) is NotImplemented
    assert transpose.transpose(modules, np.array([[b"text"]], object), perm=(1, 0)) is NotImplemented
    assert transpose.transpose(modules, _numbers((2,) * 9), perm=tuple(reversed(range(9)))) is NotImplemented
