"""Initializers: shapes, dtypes, distributions, names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import activations, initializers
from agog_layers.weights.initializers import VarianceScaling
from agog_layers.weights.variance_scaling import contrib_variance_scaling, contrib_xavier
from agog_testing import says

SEED = 50


@pytest.fixture(autouse=True)
def _seeded() -> None:
    ag.set_random_seed(SEED)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_constants(dtype: str) -> None:
    for name, value in (("zeros", 0), ("ones", 1)):
        made = initializers.get(name)((2, 3), dtype=dtype)
        assert made.dtype == dtype
        np.testing.assert_array_equal(made.numpy(), np.full((2, 3), value))
    assert initializers.Constant([1, 2, 3])((2, 2), dtype=dtype).numpy().tolist() == [[1, 2], [3, 3]]
    assert initializers.constant_initializer(7)(ag.TensorShape([2])).dtype == ag.float32


@pytest.mark.parametrize(
    ("initializer", "low", "high"),
    [
        (initializers.RandomUniform(), -0.05, 0.05),
        (initializers.RandomUniform(-2.0, 3.0), -2.0, 3.0),
        (initializers.random_uniform_initializer(), 0.0, 1.0),
        (initializers.random_uniform_initializer(1.0, 2.0), 1.0, 2.0),
        (initializers.glorot_uniform(), -np.sqrt(6 / 500), np.sqrt(6 / 500)),
        (initializers.UniformUnitScaling(2.0), -2 * np.sqrt(3 / 200), 2 * np.sqrt(3 / 200)),
        (
            contrib_variance_scaling(6.0, "FAN_OUT", uniform=True),
            -np.sqrt(18 / 300),
            np.sqrt(18 / 300),
        ),
        (contrib_xavier(), -np.sqrt(6 / 500), np.sqrt(6 / 500)),
        (initializers.he_uniform(), -np.sqrt(6 / 200), np.sqrt(6 / 200)),
        (initializers.lecun_uniform(), -np.sqrt(3 / 200), np.sqrt(3 / 200)),
        (VarianceScaling(2.0, "fan_out", distribution="uniform"), -np.sqrt(6 / 300), np.sqrt(6 / 300)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform(initializer: Any, low: float, high: float, dtype: str) -> None:
    values = initializer((200, 300), dtype=dtype)
    assert values.dtype == dtype
    flat = np.sort(values.numpy().ravel())
    assert low <= flat[0]
    assert flat[-1] <= high
    uniform = np.linspace(low, high, flat.size)
    assert np.abs(flat - uniform).max() < 0.01 * (high - low), f"seed {SEED}"  # Kolmogorov and Smirnov's distance


@pytest.mark.parametrize(
    ("initializer", "mean", "stddev"),
    [
        (initializers.RandomNormal(), 0.0, 0.05),
        (initializers.RandomNormal(3.0, 2.0), 3.0, 2.0),
        (initializers.random_normal_initializer(), 0.0, 1.0),
        (VarianceScaling(distribution="untruncated_normal"), 0.0, np.sqrt(1 / 200)),
    ],
)
def test_normal(initializer: Any, mean: float, stddev: float) -> None:
    values = initializer((200, 300)).numpy().astype(np.float64)
    assert values.mean() == pytest.approx(mean, abs=0.02 * stddev)
    assert values.std() == pytest.approx(stddev, rel=0.02)
    assert (np.abs(values - mean) < stddev).mean() == pytest.approx(0.6827, abs=0.01)


# The standard deviation of standard normals between -2 and 2.
CUT = np.sqrt(1 - 4 * np.exp(-2) / np.sqrt(2 * np.pi) / 0.9544997361036416)


@pytest.mark.parametrize(
    ("initializer", "mean", "stddev"),
    [
        (initializers.TruncatedNormal(), 0.0, 0.05 * CUT),
        (initializers.TruncatedNormal(3.0, 2.0), 3.0, 2.0 * CUT),
        (initializers.truncated_normal_initializer(), 0.0, CUT),
        (VarianceScaling(), 0.0, np.sqrt(1 / 200)),
        (VarianceScaling(3.0, "fan_out", "normal"), 0.0, np.sqrt(3 / 300)),
        (initializers.glorot_normal(), 0.0, np.sqrt(2 / 500)),
        (initializers.he_normal(), 0.0, np.sqrt(2 / 200)),
        (initializers.lecun_normal(), 0.0, np.sqrt(1 / 200)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_truncated_normal(initializer: Any, mean: float, stddev: float, dtype: str) -> None:
    """The standard deviation is the one that was asked for, and none is beyond two of those before the cut."""
    values = initializer((200, 300), dtype=dtype).numpy().astype(np.float64)
    assert values.mean() == pytest.approx(mean, abs=0.02 * stddev)
    assert values.std() == pytest.approx(stddev, rel=0.01)
    limit = 2 * stddev / CUT
    assert 0.98 * limit < np.abs(values - mean).max() <= limit * (1 + 1e-6), f"seed {SEED}"


def test_identity() -> None:
    assert initializers.Identity()((2, 3)).numpy().tolist() == [[1, 0, 0], [0, 1, 0]]
    assert initializers.Identity(2.0)((3, 2), dtype="float64").numpy().tolist() == [[2, 0], [0, 2], [0, 0]]
    with says(ValueError, "Identity: only a matrix can be an identity; got shape (2,)."):
        initializers.Identity()((2,))


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (7, 3), (2, 3, 4), (1, 1)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    values = initializers.Orthogonal(2.0, seed=3)(shape, dtype="float64").numpy()
    assert values.shape == shape
    matrix = values.reshape(-1, shape[-1])
    products = matrix @ matrix.T if matrix.shape[0] < matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(products, 4 * np.eye(len(products)), atol=1e-13, err_msg=f"seed {SEED}")


def test_orthogonal_in_half_precision() -> None:
    values = initializers.Orthogonal(seed=3)((4, 3), dtype="float16")
    assert values.dtype == ag.float16
    np.testing.assert_allclose(values.numpy().T @ values.numpy(), np.eye(3), atol=5e-3)


def test_orthogonal_error() -> None:
    with says(ValueError, "Orthogonal: a tensor must have at least two axes to be orthogonal; got shape (2,)."):
        initializers.orthogonal_initializer()((2,))


def test_fans() -> None:
    assert initializers.fans(()) == (1, 1)
    assert initializers.fans((5,)) == (5, 5)
    assert initializers.fans((5, 6)) == (5, 6)
    assert initializers.fans((2, 3, 5, 6)) == (30, 36)


def test_seeds() -> None:
    made = initializers.glorot_uniform(seed=7)((3, 3)).numpy()
    ag.set_random_seed(SEED)
    np.testing.assert_array_equal(initializers.glorot_uniform(seed=7)((3, 3)).numpy(), made)
    assert not np.array_equal(initializers.glorot_uniform(seed=8)((3, 3)).numpy(), made)


def test_get() -> None:
    made = initializers.Ones()
    assert initializers.get(made) is made
    assert isinstance(initializers.get(initializers.Zeros), initializers.Zeros)
    assert initializers.get(ag.zeros) is ag.zeros
    with says(
        ValueError,
        "Unknown initializer 'glorot'; the names are constant, glorot_normal, glorot_uniform, he_normal, he_uniform, "
        "identity, lecun_normal, lecun_uniform, ones, orthogonal, random_normal, random_uniform, truncated_normal, "
        "variance_scaling, zeros.",
    ):
        initializers.get("glorot")
    with says(TypeError, "An initializer is a name, a function, or what serialize returned; got 3 of type int."):
        initializers.get(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"scale": 0, "distribution": "uniform"}, "VarianceScaling: scale must be above 0; got 0."),
        (
            {"mode": "fan", "distribution": "uniform"},
            "VarianceScaling: mode must be one of fan_in, fan_out, fan_avg; got 'fan'.",
        ),
        (
            {"distribution": "cauchy"},
            "VarianceScaling: distribution must be one of truncated_normal, untruncated_normal, uniform; got 'cauchy'.",
        ),
    ],
)
def test_variance_scaling_errors(arguments: dict[str, Any], text: str) -> None:
    with says(ValueError, text):
        VarianceScaling(**arguments)


def test_base_class() -> None:
    with says(NotImplementedError, "Initializer.fill is not implemented; it makes a tensor of a shape and dtype."):
        initializers.Initializer()([1])


def test_activations() -> None:
    x = np.array([-1.0, 0.5])
    for name, expected in {
        "linear": x,
        "relu": [0, 0.5],
        "tanh": np.tanh(x),
        "sigmoid": 1 / (1 + np.exp(-x)),
        "softmax": np.exp(x) / np.exp(x).sum(),
    }.items():
        np.testing.assert_allclose(np.asarray(activations.get(name)(ag.constant(x))), expected, rtol=1e-12)
    assert activations.get(None) is activations.linear
    assert activations.get(ag.tanh) is ag.tanh
    with says(
        ValueError,
        "Unknown activation 'swoosh'; the names are celu, elu, exp, exponential, gelu, glu, h_sigmoid, "
        "hard_shrink, hard_sigmoid, hard_silu, hard_swish, hard_tanh, leaky_relu, linear, log_sigmoid, "
        "log_softmax, mish, relu, relu6, selu, sigmoid, silu, soft_shrink, softmax, softplus, softsign, "
        "sparse_plus, sparse_sigmoid, sparsemax, squareplus, swish, tanh, tanh_shrink, threshold.",
    ):
        activations.get("swoosh")
    with says(TypeError, "An activation is a name, a function, or what serialize returned; got 3 of type int."):
        activations.get(3)
