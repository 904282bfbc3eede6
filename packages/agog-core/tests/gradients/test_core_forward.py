"""Forward-mode differentiation against derivatives written by hand, and against the reverse mode."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import agog_core as ag
from agog_testing import says

SEED = 3
RNG = np.random.default_rng(SEED)
X = RNG.normal(size=(2, 3))
PRIMALS = "ForwardAccumulator: primals are tensors and variables of floating or complex dtypes; got"
V = RNG.normal(size=(2, 3))


def test_elementwise_chain() -> None:
    value, tangent = ag.jvp(lambda x: ag.exp(x) * x, [X], [V])
    np.testing.assert_allclose(value.numpy(), np.exp(X) * X, rtol=1e-13)
    np.testing.assert_allclose(tangent.numpy(), np.exp(X) * (1 + X) * V, rtol=1e-12, err_msg=f"seed {SEED}")


def test_two_arguments_broadcast() -> None:
    y, u = RNG.normal(size=3), RNG.normal(size=3)
    _, tangent = ag.jvp(lambda x, y: x * y, [X, y], [V, u])
    np.testing.assert_allclose(tangent.numpy(), V * y + X * u, rtol=1e-12, err_msg=f"seed {SEED}")


def test_op_with_attributes_and_several_outputs() -> None:
    def f(x: ag.Tensor) -> list[ag.Tensor]:
        first, second = ag.split(ag.matmul(x, x, transpose_b=True), 2, axis=1)
        return [first, ag.concat([second, second], 0)]

    _, (first, second) = ag.jvp(f, [X], [V])
    expected = V @ X.T + X @ V.T
    np.testing.assert_allclose(first.numpy(), expected[:, :1], rtol=1e-12)
    np.testing.assert_allclose(second.numpy(), np.concatenate([expected[:, 1:]] * 2), rtol=1e-12)


def test_unconnected_target_has_no_tangent() -> None:
    x, other = ag.constant(X), ag.constant(1.0)
    with ag.ForwardAccumulator(x, V) as forward:
        y = other * 2.0
    assert forward.jvp(y) is None
    assert float(forward.jvp(y, unconnected_gradients="zero")) == 0.0
    with pytest.raises(ValueError, match=r"^unconnected_gradients must be 'none' or 'zero'; got 'nil'\.$"):
        forward.jvp(y, unconnected_gradients="nil")


def test_variable() -> None:
    v = ag.Variable(X)
    with ag.ForwardAccumulator(v, V) as forward:
        y = v * v
    np.testing.assert_allclose(forward.jvp(y).numpy(), 2 * X * V, rtol=1e-13)
    np.testing.assert_allclose(forward.jvp(v).numpy(), V)


def test_forward_over_reverse_is_a_hessian_vector_product() -> None:
    x = ag.constant(X)
    with ag.ForwardAccumulator(x, V) as forward:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = ag.reduce_sum(x * x * x)
        gradient = tape.gradient(y, x)
    np.testing.assert_allclose(forward.jvp(gradient).numpy(), 6 * X * V, rtol=1e-12)


def test_reverse_over_forward_is_a_hessian_vector_product() -> None:
    x = ag.constant(X)
    with ag.GradientTape() as tape:
        tape.watch(x)
        with ag.ForwardAccumulator(x, V) as forward:
            y = ag.reduce_sum(x * x * x)
        tangent = forward.jvp(y)
    np.testing.assert_allclose(tape.gradient(tangent, x).numpy(), 6 * X * V, rtol=1e-12)


def test_forward_over_forward() -> None:
    x, v = ag.constant(X), ag.constant(V)
    with ag.ForwardAccumulator(x, v) as outer:
        with ag.ForwardAccumulator(x, v) as inner:
            y = x * x * x
        tangent = inner.jvp(y)
    np.testing.assert_allclose(tangent.numpy(), 3 * X**2 * V, rtol=1e-12)
    np.testing.assert_allclose(outer.jvp(tangent).numpy(), 6 * X * V**2, rtol=1e-12)


def test_custom_gradient_is_followed() -> None:
    @ag.custom_gradient
    def threefold(x: ag.Tensor) -> tuple[ag.Tensor, object]:
        return x * 1.0, lambda dy: dy * 3.0

    _, tangent = ag.jvp(threefold, [X], [V])
    np.testing.assert_allclose(tangent.numpy(), 3 * V, rtol=1e-13)


def test_intermediate_values_are_freed() -> None:
    x = ag.constant(X)
    with ag.ForwardAccumulator(x, V) as forward:
        y = x * 2.0
        kept = weakref.ref(y)
        z = y + 1.0
        del y
        gc.collect()
        assert kept() is None
    np.testing.assert_allclose(forward.jvp(z).numpy(), 2 * V)


@pytest.mark.parametrize(
    ("primals", "tangents", "error", "text"),
    [
        (
            1.0,
            1.0,
            TypeError,
            f"{PRIMALS} 1.0.",
        ),
        (
            ag.constant(1),
            ag.constant(1),
            TypeError,
            f"{PRIMALS} a tensor of dtype int32.",
        ),
        (
            [ag.constant(1.0)],
            [1.0, 2.0],
            ValueError,
            "ForwardAccumulator: 2 tangents for 1 primals; give one for each.",
        ),
        (
            ag.constant([1.0]),
            ag.constant(1.0),
            ag.errors.InvalidArgumentError,
            "ForwardAccumulator: a tangent has shape () and dtype float32; its primal has shape (1,) and dtype "
            "float32, and both must agree.",
        ),
    ],
)
def test_errors(primals: object, tangents: object, error: type[Exception], text: str) -> None:
    with says(error, text):
        ag.ForwardAccumulator(primals, tangents)


def test_entering_twice() -> None:
    with ag.ForwardAccumulator(ag.constant(1.0), 1.0) as forward, pytest.raises(ValueError, match="active already"):
        forward.__enter__()
