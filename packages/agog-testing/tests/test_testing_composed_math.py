"""First and second derivatives of the elementwise mathematics that is composed of other ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.math.linear_combinations import polyval
from agog_core.ops.math.special import bessel_i0, bessel_i1
from agog_testing import gradcheck

SEED = 20181105
X = np.random.default_rng(SEED).uniform(0.4, 2, (2, 3))
Z = X * np.exp(1j * np.random.default_rng(SEED).uniform(-3, 3, (2, 3)))

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log_sigmoid": ag.log_sigmoid,
    "div": lambda x: ag.div(x, x + 1.0),
    "lbeta": ag.lbeta,
    "bessel_i0": bessel_i0,
    "bessel_i1": bessel_i1,
    "polyval": lambda x: polyval([2.0, -1.0, x, 0.5], x),
    "accumulate_n": lambda x: ag.accumulate_n([x * x, x]),
    "scalar_mul": lambda x: ag.scalar_mul(3.0, x * x),
    "clip_by_value": lambda x: ag.clip_by_value(x * x, 0.7, 2.2),
    "clip_by_norm": lambda x: ag.clip_by_norm(x, 1.0),
    "clip_by_norm of rows": lambda x: ag.clip_by_norm(x, 1.0, axes=[1]),
    "clip_by_average_norm": lambda x: ag.clip_by_average_norm(x, 0.1),
    "global_norm": lambda x: ag.global_norm([x, x[0] * 2.0]),
    "clip_by_global_norm": lambda x: ag.clip_by_global_norm([x, x[0] * 2.0], 1.5)[0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    gradcheck(FUNCTIONS[name], [X], seed=SEED)


COMPLEX_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "angle": ag.angle,
    "power of the absolute value": lambda z: ag.pow(ag.abs(z), 3.0),
    "product with the conjugate": lambda z: z * ag.conj(z),
    "real part of an exponential": lambda z: ag.real(ag.exp(z)),
    "sign": ag.sign,
    "polar coordinates": lambda z: ag.complex(ag.log(ag.abs(z)), ag.angle(z)),
    "complex power": lambda z: z ** (0.5 + 1j),
    "division": lambda z: (1 + 2j) / z,
    "a sum over repeated rows": lambda z: z[0] * z,
}


@pytest.mark.parametrize("name", COMPLEX_FUNCTIONS)
def test_complex_derivatives(name: str) -> None:
    gradcheck(COMPLEX_FUNCTIONS[name], [Z], seed=SEED)


def test_third_derivatives_of_the_gamma_functions() -> None:
    gradcheck(lambda x: ag.lgamma(x) + ag.digamma(x), [X], order=3, seed=SEED)


def test_derivatives_of_the_incomplete_gamma_functions_far_from_one() -> None:
    a, x = np.array([0.3, 5.0, 40.0, 3.0]), np.array([10.0, 0.01, 45.0, 200.0])
    gradcheck(lambda a, x: (ag.igamma(a, x), ag.igammac(a, x)), [a, x], eps=1e-5, seed=SEED)


def test_derivative_of_igamma_in_a_is_zero_at_zero() -> None:
    a, x = ag.constant([0.5, 2.0]), ag.constant([0.0, 0.0])
    with ag.GradientTape() as tape:
        tape.watch(a)
        y = ag.igamma(a, x)
    assert tape.gradient(y, a).numpy().tolist() == [0.0, 0.0]


def test_third_derivatives_of_the_incomplete_functions() -> None:
    gradcheck(lambda x: ag.igamma(2.0, x) + ag.igammac(0.7, x) + ag.betainc(2.0, 3.0, x / 3.0), [X], order=3, seed=SEED)
