"""Convolutions by cuDNN on a card: they are those of our own kernels, in equal bits each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_cuda_cupy import cudnn, launchers

TOLERANCES = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-13}
WINDOW: dict[str, Any] = {"strides": (2, 1), "paddings": ((1, 1), (0, 2)), "dilations": (1, 1)}


@pytest.fixture(autouse=True)
def _needs_cudnn() -> None:
    if (reason := cudnn.unavailable()) is not None:
        pytest.skip(reason)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_are_those_of_our_own_kernels(groups: int, dtype: str) -> None:
    import cupy

    rng = np.random.default_rng(7)
    shapes = (4, 17, 15, 8), (3, 3, 8 // groups, 16), (4, 9, 15, 16)
    x, f, g = (cupy.asarray(rng.standard_normal(shape)).astype(dtype) for shape in shapes)
    calls: dict[str, tuple[tuple[Any, Any], dict[str, Any]]] = {
        "convolution": ((x, f), {}),
        "convolution_input_grad": ((g, f), {"input_shape": x.shape}),
        "convolution_filter_grad": ((x, g), {"filter_shape": f.shape}),
    }
    for op, (arrays, more) in calls.items():
        by_cudnn, ours = (module.make(op, dtype, "gpu:0") for module in (cudnn, launchers))
        first, second, wanted = [run(*arrays, groups=groups, **WINDOW, **more) for run in (by_cudnn, by_cudnn, ours)]
        assert first is not NotImplemented
        assert first.tobytes() == second.tobytes()
        found, expected = (result.get().astype("f8") for result in (first, wanted))
        np.testing.assert_allclose(found, expected, rtol=TOLERANCES[dtype], atol=30 * TOLERANCES[dtype])


@pytest.mark.parametrize(("channels", "is_declined"), [(2, True), (16, False)])
def test_long_sums_keep_their_digits(channels: int, is_declined: bool) -> None:
    import cupy

    rng, length = np.random.default_rng(7), 100_003
    x, g = (rng.standard_normal((1, length, size)).astype("float32") for size in (channels, 12))
    wide = np.pad(x.astype("f8"), ((0, 0), (1, 1), (0, 0)))
    wanted = np.stack([wide[0, shift : shift + length].T @ g[0].astype("f8") for shift in range(3)])
    sliding = {"strides": (1,), "paddings": ((1, 1),), "dilations": (1,), "groups": 1}
    by_cudnn, ours = (
        module.make("convolution_filter_grad", "float32", "gpu:0")(
            cupy.asarray(x), cupy.asarray(g), filter_shape=wanted.shape, **sliding
        )
        for module in (cudnn, launchers)
    )
    np.testing.assert_allclose(ours.get(), wanted, rtol=1e-5, atol=2e-3)
    assert (by_cudnn is NotImplemented) == is_declined
    if not is_declined:
        np.testing.assert_allclose(by_cudnn.get(), wanted, rtol=1e-5, atol=2e-3)
