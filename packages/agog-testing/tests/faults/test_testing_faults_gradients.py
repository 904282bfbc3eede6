"""Faults of derivatives, planted in vjps of an op of a right kernel: each is found, and its corrected twin passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.calls.call import call
from agog_core.dispatch.op import Op, registry
from agog_testing.opinfo import OpInfo, table

Vjp = Callable[..., ag.Tensor]


def cubed(x: ag.TensorLike) -> ag.Tensor:
    """The third power of x."""
    result: ag.Tensor = call(registry["cubed"], ag.convert_to_tensor(x))
    return result


def right(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return g * 3.0 * ag.square(x)


def wrong(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return g * 2.0 * ag.square(x)


def of_wrong_second_derivative(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return g * 3.0 * x * ag.stop_gradient(x)


def of_second_derivative_in_g_only(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return g * 3.0 * ag.stop_gradient(ag.square(x))


def wrong_for_ones(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    if g.numpy().size and (g.numpy() == 1).all():
        return 3.0 * x
    return right(g, x)


@pytest.fixture
def of_vjp(verdict: Callable[..., dict[str, str]]) -> Iterator[Callable[[Vjp], dict[str, str]]]:
    """The kit's verdict on an op with a vjp."""

    def failures(vjp: Vjp) -> dict[str, str]:
        Op("cubed", cubed, inputs=["x"], shape=lambda x: x, dtypes=ag.dtypes.FLOATING, vjp={"x": vjp})
        table["cubed"] = OpInfo(name="cubed", samples=table["square"].samples, reference=lambda x: x * x * x)
        return verdict("cubed", lambda x: np.asarray(x * x * x), "float64")

    yield failures
    table.pop("cubed", None)
    registry.pop("cubed", None)


@pytest.mark.parametrize(
    ("vjp", "check"),
    [
        (wrong, "gradient"),
        (of_wrong_second_derivative, "gradient"),
        (of_second_derivative_in_g_only, "gradient"),
        (wrong_for_ones, "linear"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_fault_is_found(vjp: Vjp, check: str, of_vjp: Callable[[Vjp], dict[str, Any]]) -> None:
    assert check in of_vjp(vjp)


def test_twin_passes(of_vjp: Callable[[Vjp], dict[str, str]]) -> None:
    assert of_vjp(right) == {}
