"""Precision: cuBLAS may round the factors of products where the program says so, and nothing else is rounded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from cupy_backends.cuda.libs import cublas

import agog_core as ag
from agog_core.ops.conv import conv2d

FINE = np.array([[1 + 2.0**-12]], "float32")  # TF32 keeps 11 bits of it, and makes it 1


@pytest.fixture(autouse=True)
def _strict_again() -> Iterator[None]:
    yield
    ag.set_matmul_precision("float32")


def products() -> list[float]:
    """The number times one: by matmul, einsum and a convolution."""
    with ag.device("/gpu:0"):
        x, one = ag.constant(FINE), ag.ones([1, 1])
        image, filters = ag.reshape(x, [1, 1, 1, 1]), ag.ones([1, 1, 1, 1])
        made = (
            ag.matmul(x, one),
            ag.einsum("ij,jk->ik", x, one),
            conv2d(image, filters, strides=[1, 1, 1, 1], padding="VALID"),
        )
    return [tensor.numpy().item() for tensor in made]


def test_products_are_float32_by_default() -> None:
    assert products() == [FINE.item()] * 3


@pytest.mark.parametrize("precision", ["tf32", "bf16"])
def test_factors_are_rounded_where_that_is_chosen(precision: str) -> None:
    assert products() == [FINE.item()] * 3
    ag.set_matmul_precision(precision)
    assert products() == [1.0] * 3
    ag.set_matmul_precision("float32")
    assert products() == [FINE.item()] * 3


def test_the_mode_of_the_handle_is_left_as_it_was() -> None:
    import cupy

    ag.set_matmul_precision("tf32")
    products()
    assert cublas.getMathMode(cupy.cuda.get_cublas_handle()) == 0


def test_sums_solutions_and_other_dtypes_stay_as_they_are() -> None:
    ag.set_matmul_precision("tf32")
    with ag.device("/gpu:0"):
        x, one = ag.constant(FINE), ag.ones([1, 1])
        assert ag.reduce_sum(x).numpy().item() == FINE.item()
        assert ag.matrix_solve(one, x).numpy().item() == FINE.item()
        wide = ag.matmul(ag.cast(x, ag.float64), ag.cast(one, ag.float64))
    assert wide.numpy().item() == FINE.item()
