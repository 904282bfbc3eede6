"""Linear algebra that is composed of several ops, and what the facts about ops do not tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.linalg.determinant import log_matrix_determinant, logdet
from agog_core.ops.linalg.matmul import adjoint
from agog_testing import says
from agog_testing.gradcheck import gradcheck

SEED = 20181105


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(SEED).normal(size=shape)


def positive(*shape: int) -> np.ndarray:
    x = values(*shape)
    return np.asarray(x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1]))


def symmetric(x: ag.Tensor) -> ag.Tensor:
    return (x + ag.matrix_transpose(x, conjugate=True)) / 2


def test_cholesky_reads_the_lower_triangle_only() -> None:
    a = positive(3, 3)
    spoilt = a + np.triu(np.full((3, 3), np.nan), 1)
    np.testing.assert_array_equal(ag.cholesky(spoilt).numpy(), ag.cholesky(a).numpy())


@pytest.mark.parametrize("order", ["transposed", "reversed", "every second"])
def test_cholesky_reads_matrices_of_any_strides(order: str) -> None:
    a = positive(2, 3, 3)
    stored = {
        "transposed": lambda: ag.matrix_transpose(ag.constant(np.swapaxes(a, -1, -2).copy())),
        "reversed": lambda: ag.constant(a[:, ::-1].copy())[:, ::-1],
        "every second": lambda: ag.constant(np.repeat(a, 2, axis=-1))[..., ::2],
    }[order]()
    np.testing.assert_allclose(ag.cholesky(stored).numpy(), np.linalg.cholesky(a), rtol=1e-13)


def test_outputs_have_names() -> None:
    decomposition = ag.qr(values(3, 2))
    assert decomposition.q is decomposition[0]
    assert decomposition.r is decomposition[1]


def test_cholesky_gradient_goes_to_both_triangles() -> None:
    """As that of TensorFlow does."""
    df = ag.gradients_function(lambda x: ag.cholesky(x)[1, 0])
    gradient = df(np.array([[4.0, 2.0], [2.0, 5.0]]))[0].numpy()
    np.testing.assert_allclose(gradient, [[-0.125, 0.25], [0.25, 0.0]], rtol=1e-13)  # of b / sqrt(a), b shared by two


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (0, 2, 2), (0, 0)])
def test_cholesky_solve(shape: tuple[int, ...]) -> None:
    a, b = positive(*shape), values(*shape[:-1], 2)
    out = ag.cholesky_solve(ag.cholesky(a), b)
    np.testing.assert_allclose(out.numpy(), np.linalg.solve(a, b), rtol=1e-9, atol=1e-12, err_msg=f"seed {SEED}")


def test_gradient_of_cholesky_solve() -> None:
    gradcheck(lambda a, b: ag.cholesky_solve(ag.cholesky(symmetric(a)), b), [positive(3, 3), values(3, 2)], seed=SEED)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (3, 3), (2, 4, 2), (2, 2, 4), (0, 3, 2)])
@pytest.mark.parametrize("regularizer", [0.0, 0.5])
def test_least_squares(shape: tuple[int, ...], regularizer: float) -> None:
    a, b = values(*shape), values(*shape[:-1], 2)
    out = ag.matrix_solve_ls(a, b, l2_regularizer=regularizer).numpy()
    penalty = np.broadcast_to(np.sqrt(regularizer) * np.eye(shape[-1]), (*shape[:-2], shape[-1], shape[-1]))
    stacked = np.concatenate([a, penalty], -2)
    wanted = np.linalg.pinv(stacked)[..., : shape[-2]] @ b
    np.testing.assert_allclose(out, wanted, rtol=1e-8, atol=1e-9, err_msg=f"seed {SEED}")
    if not regularizer:
        slow = ag.matrix_solve_ls(a, b, fast=False).numpy()
        np.testing.assert_allclose(slow, wanted, rtol=1e-10, atol=1e-11, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
@pytest.mark.parametrize("regularizer", [0.0, 0.5])
def test_gradient_of_least_squares(shape: tuple[int, ...], regularizer: float) -> None:
    gradcheck(
        lambda a, b: ag.matrix_solve_ls(a, b, l2_regularizer=regularizer),
        [values(*shape), values(shape[0], 2)],
        seed=SEED,
    )


def test_the_regularizer_may_be_a_tensor() -> None:
    out = ag.matrix_solve_ls([[2.0]], [[2.0]], l2_regularizer=ag.constant(4.0, ag.float64))
    np.testing.assert_allclose(out.numpy(), [[0.5]], rtol=1e-6)


def test_least_squares_of_less_than_full_rank_needs_the_slow_way() -> None:
    a = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    b = values(3, 1)
    wanted = np.linalg.lstsq(a, b, rcond=None)[0]
    np.testing.assert_allclose(ag.matrix_solve_ls(a, b, fast=False).numpy(), wanted, rtol=1e-12)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (0, 0)])
def test_logarithm_of_determinants(shape: tuple[int, ...]) -> None:
    a = positive(*shape)
    wanted = np.linalg.slogdet(a)[1]
    np.testing.assert_allclose(logdet(a).numpy(), wanted, rtol=1e-12, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(log_matrix_determinant(a).log_abs_determinant.numpy(), wanted, rtol=1e-12)


def test_gradient_of_logdet() -> None:
    gradcheck(lambda x: logdet(symmetric(x)), [positive(3, 3)], seed=SEED)
    phases = values(3, 3) * 0.1
    gradcheck(lambda x: logdet(symmetric(x)), [positive(3, 3) + 1j * (phases - phases.T)], seed=SEED)


def test_logarithm_of_a_large_determinant_does_not_overflow() -> None:
    a = 1e30 * np.eye(20, dtype=np.float32)
    assert float(ag.matrix_determinant(a)) == np.inf
    np.testing.assert_allclose(float(log_matrix_determinant(a).log_abs_determinant), 600 * np.log(10), rtol=1e-6)


def test_gradient_of_a_singular_determinant_fails_as_in_tensorflow() -> None:
    with says(ag.errors.InvalidArgumentError, "matrix_inverse: Input is not invertible."):
        (gradient,) = ag.gradients_function(lambda x: ag.matrix_determinant(x))(np.zeros((2, 2)))
        gradient.numpy()  # a device may tell of values when it is waited for


def test_singular_values_without_vectors() -> None:
    x = values(2, 4, 3)
    out = ag.svd(x, compute_uv=False)
    assert isinstance(out, ag.Tensor)
    np.testing.assert_allclose(out.numpy(), np.linalg.svd(x, compute_uv=False), rtol=1e-12)


def test_decompositions_give_back_the_matrix() -> None:
    x = values(2, 4, 3)
    for full_matrices in (False, True):
        q, r = ag.qr(x, full_matrices)
        np.testing.assert_allclose(ag.matmul(q, r).numpy(), x, atol=1e-13)
        s, u, v = ag.svd(x, full_matrices)
        diagonal = np.zeros((2, u.numpy().shape[-1], v.numpy().shape[-1]))
        diagonal[:, range(3), range(3)] = s.numpy()
        np.testing.assert_allclose(u.numpy() @ diagonal @ np.swapaxes(v.numpy(), -1, -2), x, atol=1e-13)
    e, v = ag.self_adjoint_eig(positive(2, 3, 3))
    np.testing.assert_allclose(
        v.numpy() * e.numpy()[:, None] @ np.swapaxes(v.numpy(), -1, -2), positive(2, 3, 3), atol=1e-12
    )


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ({"transpose_a": True, "adjoint_a": True}, "matmul: only one of transpose_a and adjoint_a can be True."),
        ({"transpose_b": True, "adjoint_b": True}, "matmul: only one of transpose_b and adjoint_b can be True."),
    ],
)
def test_matmul_is_not_transposed_twice(flags: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text}$"):
        ag.matmul([[1.0]], [[1.0]], **flags)


def test_adjoint_of_complex_matrices() -> None:
    x = values(2, 3, 4) + 1j * values(2, 3, 4)[::-1]
    np.testing.assert_array_equal(adjoint(x).numpy(), np.conj(np.swapaxes(x, -1, -2)))
    np.testing.assert_array_equal(ag.matrix_transpose(x).numpy(), np.swapaxes(x, -1, -2))
    gradcheck(adjoint, [x], seed=SEED)


def test_gradient_of_complex_least_squares() -> None:
    a, b = values(4, 2) + 1j * values(2, 4).T, values(4, 1) + 2j
    for fast in (False, True):
        gradcheck(lambda a, b, fast=fast: ag.matrix_solve_ls(a, b, fast=fast), [a, b], seed=SEED)


def test_matmul_takes_the_hints_of_tensorflow() -> None:
    assert float(ag.matmul([[2.0]], [[3.0]], a_is_sparse=True, b_is_sparse=True)[0, 0]) == 6
