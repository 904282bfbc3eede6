"""Contractions against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says
from agog_testing.gradcheck import gradcheck

RNG = np.random.default_rng(20181105)


def array(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.normal(size=shape)


@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        *[((2, 3), (3, 4), 1), ((2, 3), (2, 3), 2), ((2,), (3,), 0), ((), (3,), 0), ((2, 3, 4), (3, 4, 2), 2)],
        *[((2, 3), (2, 4), (0, 0)), ((2, 3, 4), (4, 2), ([0, 2], [1, 0])), ((2, 3), (3, 2), [[-1], [0]])],
        *[((2, 3), (3, 2), ([], [])), ((2, 0), (0, 3), 1)],
    ],
)
def test_tensordot(a: tuple[int, ...], b: tuple[int, ...], axes: Any) -> None:
    x, y = array(*a), array(*b)
    expected = np.tensordot(x, y, axes)
    np.testing.assert_allclose(ag.tensordot(x, y, axes).numpy(), expected, rtol=1e-13, atol=1e-13)
    if not isinstance(axes, int) and len(np.shape(axes)) == 2 and np.size(axes):
        np.testing.assert_allclose(ag.tensordot(x, y, ag.constant(axes)).numpy(), expected, rtol=1e-13, atol=1e-13)


def test_gradient_of_tensordot() -> None:
    gradcheck(lambda x, y: ag.tensordot(x, y, [[0, 2], [1, 0]]), [array(2, 3, 2), array(2, 2)])


@pytest.mark.parametrize(
    ("axes", "error", "text"),
    [
        (3, ValueError, "tensordot: axes must be from 0 to 2 for tensors of rank 2 and 2; got 3."),
        ("ab", ValueError, "tensordot: axes must be an integer or a pair; got 'ab'."),
        (([0], [0, 1]), ValueError, "tensordot: axes must name as many axes of a as of b; got ((0,), (0, 1))."),
        (
            ([0, 0], [0, 1]),
            InvalidArgumentError,
            "tensordot: axes ((0, 0), (0, 1)) name an axis twice; name each once.",
        ),
        ((2, 0), InvalidArgumentError, "tensordot: axis 2 is out of range for a tensor of rank 2; use -2 to 1."),
        (
            1,
            InvalidArgumentError,
            "tensordot: a has sizes [3] along axes [1], and b has sizes [2] along axes [0] (shapes (2, 3) and (2, 3)); "
            "they must be equal.",
        ),
    ],
    ids=str,
)
def test_errors_of_tensordot(axes: Any, error: type[Exception], text: str) -> None:
    with says(error, text):
        ag.tensordot(np.ones((2, 3)), np.ones((2, 3)), axes)


def test_third_derivative_of_a_contraction() -> None:
    """The cube of a trace has the third derivative 6 on every triple of diagonal elements."""

    def trace(x: Any) -> Any:
        return ag.einsum("ii->", x)

    def cubed(x: Any) -> Any:
        return trace(x) * trace(x) * trace(x)

    def first(x: Any) -> Any:
        return ag.gradients_function(cubed)(x)[0][0, 0]

    def second(x: Any) -> Any:
        return ag.gradients_function(first)(x)[0][1, 1]

    (third,) = ag.gradients_function(second)(np.array([[1.0, 5.0], [7.0, 2.0]]))
    np.testing.assert_allclose(third.numpy(), 6 * np.eye(2), rtol=1e-13)


def test_long_chain_takes_the_cheap_order() -> None:
    """From left to right this takes 10**9 products; from the vector, thousands."""
    matrices = [array(60, 60) / 8 for _ in range(8)]
    vector = array(60)
    equation = "ab,bc,cd,de,ef,fg,gh,hi,i->a"
    expected = np.linalg.multi_dot([*matrices, vector])
    np.testing.assert_allclose(ag.einsum(equation, *matrices, vector).numpy(), expected, rtol=1e-10)


@pytest.mark.parametrize(
    "equation",
    [
        *["bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd", "abc,cad->bd", "ab,cd->dbca", "abc,adc->bd", "ab,ac->a", "abc,bc->ca"],
        *["ab,ab->ab", "ab,ab->", "ab,ba->a", "abx,bcy->ca", "ab,b->ab", "a,->a", "aab,bc->ac", "abc,bad,cd->"],
    ],
)
def test_products_of_matrices_in_disguise(equation: str) -> None:
    """Every way in which axes may be shared, summed over, in one input alone, and ordered."""
    sizes = {letter: 2 + n for n, letter in enumerate(sorted(set(equation) & set("abcdhkqxy")))}
    inputs = [array(*(sizes[letter] for letter in term)) for term in equation.split("->")[0].split(",")]
    expected = np.einsum(equation, *inputs)
    np.testing.assert_allclose(ag.einsum(equation, *inputs).numpy(), expected, rtol=1e-11, atol=1e-12)
    integers = [np.rint(3 * x).astype(np.int64) for x in inputs]
    assert np.array_equal(ag.einsum(equation, *integers).numpy(), np.einsum(equation, *integers))


def test_too_many_indices() -> None:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    equation = f"...{letters[:30]},...{letters[30:]}"
    with says(ValueError, f"einsum: equation {equation!r} needs more than 52 indices."):
        ag.einsum(equation, np.ones([1] * 31), np.ones([1] * 23))


def test_complex_numbers() -> None:
    x, y = array(2, 3) + 1j * array(2, 3), array(3, 2) + 1j * array(3, 2)
    np.testing.assert_allclose(ag.einsum("ij,jk->ik", x, y).numpy(), x @ y, rtol=1e-13)
