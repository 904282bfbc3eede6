"""Attention and its gradients on the host, against the kernels of the device "cpu" in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import attention

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)
TOLERANCES = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 4e-6, "float64": 1e-13}
# The axes before, and how many queries and keys there are; a warp has 32 lanes.
SHAPES = [((), 3, 5), ((2, 3), 7, 7), ((2,), 40, 33), ((1,), 4, 100)]
SOURCES = ("query", "key", "value")


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("has_bias", [False, True], ids=["plain", "biased"])
@pytest.mark.parametrize("is_causal", [False, True], ids=["whole", "causal"])
@pytest.mark.parametrize(("before", "queries", "keys"), SHAPES)
def test_attention_and_its_gradients(
    modules: Any,
    order: str,
    before: tuple[int, ...],
    queries: int,
    keys: int,
    is_causal: bool,
    has_bias: bool,
    dtype: str,
) -> None:
    rng = np.random.default_rng(7)
    shapes = (*before, queries, 6), (*before, keys, 6), (*before, keys, 3), (queries, keys) if has_bias else (0,)
    arrays = [rng.standard_normal(shape).astype(numpy_dtype(dtype)) for shape in shapes]
    gradients = rng.standard_normal((*before, queries, 3)).astype(numpy_dtype(dtype))
    how: dict[str, Any] = {"factor": 0.5, "is_causal": is_causal}
    exact = [array.astype("f8") for array in (gradients, *arrays)]
    found = attention.dot_product_attention(modules, *arrays, **how)
    _agree(found, REFERENCE("dot_product_attention")(*exact[1:], **how), dtype)
    of_each = attention.dot_product_attention_grad(modules, gradients, *arrays, **how, sources=SOURCES)
    wanted = REFERENCE("dot_product_attention_grad")(*exact, **how, sources=SOURCES)
    for each, right in zip(of_each, wanted, strict=True):
        _agree(each, right, dtype)


def _agree(found: Any, wanted: Any, dtype: str) -> None:
    assert found.dtype == numpy_dtype(dtype)
    assert found.shape == wanted.shape
    scale = max(1.0, float(np.abs(wanted).max()))
    np.testing.assert_allclose(found.astype("f8") / scale, wanted / scale, rtol=0, atol=TOLERANCES[dtype])


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    x, none = np.ones((2, 3), "f4"), np.ones(0, "f4")
    how: dict[str, Any] = {"factor": 1.0, "is_causal": False}
    for arrays in ((x[:0], x, x), (x, x[:0], x[:0]), (x.astype("f8"), x, x), (*[x.astype("i4")] * 3,)):
        assert attention.dot_product_attention(modules, *arrays, none, **how) is NotImplemented
