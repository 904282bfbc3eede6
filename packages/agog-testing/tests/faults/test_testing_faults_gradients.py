"""Faults of derivatives, planted in vjps of an op of a right kernel: each is found, and its corrected twin passes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from planting import Fault, Plant, kernel, planted

import agog_core as ag
from agog_core.calls.call import call
from agog_core.dispatch.op import Op, registry
from agog_testing.opinfo import OpInfo, table

Vjp = Callable[..., ag.Tensor]

DERIVATIVES = "first and second derivatives are those of numerical differentiation"
LINEAR = "the gradient for incoming gradients of 1 is the difference of those for 1 + w and for w"


def cubed(x: ag.TensorLike) -> ag.Tensor:
    """The third power of x."""
    result: ag.Tensor = call(registry["cubed"], ag.convert_to_tensor(x))
    return result


def of_vjp(vjp: Vjp) -> Plant:
    """A plugin of the op `cubed`, with a vjp."""

    def ops() -> list[Op]:
        return [Op("cubed", cubed, inputs=["x"], shape=lambda x: x, dtypes=ag.dtypes.FLOATING, vjp={"x": vjp})]

    info = OpInfo(name="cubed", samples=table["square"].samples, reference=lambda x: x * x * x)
    return Plant(kernels=kernel("cubed", lambda x: np.asarray(x * x * x), "float64").kernels, ops=ops, infos=(info,))


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


TWIN = of_vjp(right)


def fault(name: str, vjp: Vjp, check: str, says: str) -> Fault:
    return Fault(name=name, op="cubed", dtype="float64", check=check, says=says, broken=of_vjp(vjp), twin=TWIN)


FAULTS = [
    fault("2x² for 3x²", wrong, "gradient", DERIVATIVES),
    fault("half of the second derivative", of_wrong_second_derivative, "gradient", DERIVATIVES),
    fault("no second derivative for x", of_second_derivative_in_g_only, "gradient", DERIVATIVES),
    fault("another vjp for gradients of ones", wrong_for_ones, "linear", LINEAR),
]

test_fault_is_found, test_twin_passes = planted(FAULTS)
