"""Faults of derivatives, planted in vjps of an op of a right kernel: each is found, and its corrected twin passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from planting import Fault, Plant, failures, kernel, planted

import agog_core as ag
from agog_core.calls.call import call
from agog_core.dispatch.op import Op, registry
from agog_testing.opinfo import OpInfo, table

Vjp = Callable[..., ag.Tensor]

DERIVATIVES = "rule: first and second derivatives are those of numerical differentiation\n"
FIRST = "rule: a gradient in the op's own dtype is the derivative of the reference\n"
SECOND = "rule: a second derivative in the op's own dtype is that of the reference\n"
FORWARD = "rule: forward mode, in the op's own dtype, gives the derivative of the reference\n"
LINEAR = "rule: the gradient for incoming gradients of 1 is the difference of those for 1 + w and for w\n"
FACTS = "rule: the facts about an op say differentiable=True where it has a vjp, and only there\n"


def cubed(x: ag.TensorLike) -> ag.Tensor:
    """The third power of x."""
    result: ag.Tensor = call(registry["cubed"], ag.convert_to_tensor(x))
    return result


def of_vjp(vjp: Vjp | None, dtype: str, **facts: Any) -> Plant:
    """A plugin of the op `cubed` for one dtype, with a vjp."""

    def ops() -> list[Op]:
        vjps = None if vjp is None else {"x": vjp}
        only = frozenset({ag.dtypes.as_dtype(dtype)})
        return [Op("cubed", cubed, inputs=["x"], shape=lambda x: x, dtypes=only, vjp=vjps)]

    info = OpInfo("cubed", table["square"].samples, lambda x: x * x * x, **facts)
    return Plant(kernels=kernel("cubed", lambda x: np.asarray(x * x * x), dtype).kernels, ops=ops, infos=(info,))


def right(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return g * 3.0 * ag.square(x)


def times(factor: float) -> Vjp:
    """A vjp that is wrong by a factor."""
    return lambda g, x: g * (3.0 * factor) * ag.square(x)


def of_thirty_x(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return g * 30.0 * x


def of_wrong_second_derivative(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return g * 3.0 * x * ag.stop_gradient(x)


def of_second_derivative_in_g_only(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return g * 3.0 * ag.stop_gradient(ag.square(x))


def of_second_derivative_in_x_only(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return ag.stop_gradient(g) * 3.0 * ag.square(x)


def of_second_derivative_off_by_a_thousandth(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return g * (3.0 * ag.square(x) + 0.003 * x * (x - ag.stop_gradient(x)))


def wrong_for_ones(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    if g.numpy().size and (g.numpy() == 1).all():
        return 3.0 * x
    return right(g, x)


def without_sign(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return g * 3.0 * x * ag.abs(x)


def of_the_first_row(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return (
        right(g, x)
        if x.ndim < 2
        else right(g, x) * ag.constant(np.eye(1, x.shape[0]).T.reshape(-1, *[1] * (x.ndim - 1)), x.dtype)
    )


def conjugated(g: ag.Tensor, x: ag.Tensor) -> ag.Tensor:
    return g * ag.conj(3.0 * ag.square(x))


def fault(name: str, vjp: Vjp | None, dtype: str, check: str, says: str) -> Fault:
    return Fault(
        name=f"{name}, {dtype}",
        op="cubed",
        dtype=dtype,
        check=check,
        says=says,
        broken=of_vjp(vjp, dtype),
        twin=TWINS[dtype],
    )


TWINS = {dtype: of_vjp(right, dtype) for dtype in ("float64", "float32", "float16", "bfloat16", "complex64")}

FAULTS = [
    fault("2x² for 3x²", times(2 / 3), "float64", "gradient", DERIVATIVES),
    fault("a ten-thousandth more", times(1.0001), "float64", "gradient", DERIVATIVES),
    fault("a hundred-thousandth less", times(0.99999), "float64", "gradient", DERIVATIVES),
    fault("half of the second derivative", of_wrong_second_derivative, "float64", "gradient", DERIVATIVES),
    fault("no second derivative for x", of_second_derivative_in_g_only, "float64", "gradient", DERIVATIVES),
    fault("no second derivative for g", of_second_derivative_in_x_only, "float64", "gradient", DERIVATIVES),
    fault(
        "a thousandth of the second derivative",
        of_second_derivative_off_by_a_thousandth,
        "float64",
        "gradient",
        DERIVATIVES,
    ),
    fault("another vjp for gradients of ones", wrong_for_ones, "float64", "linear", LINEAR),
    fault("the gradient of the first row", of_the_first_row, "float64", "gradient", DERIVATIVES),
    fault("30x for 3x²", of_thirty_x, "float32", "gradient", FIRST),
    fault("30x for 3x², forward", of_thirty_x, "float32", "forward", FORWARD),
    fault("a ten-thousandth more", times(1.0001), "float32", "gradient", FIRST),
    fault("no sign", without_sign, "float32", "gradient", FIRST),
    fault("half of the second derivative", of_wrong_second_derivative, "float32", "gradient", SECOND),
    fault("no second derivative for x", of_second_derivative_in_g_only, "float32", "gradient", SECOND),
    fault("no second derivative for g", of_second_derivative_in_x_only, "float32", "gradient", SECOND),
    fault("another vjp for gradients of ones", wrong_for_ones, "float32", "linear", LINEAR),
    fault("the gradient of the first row", of_the_first_row, "float32", "gradient", FIRST),
    fault("no vjp", None, "float32", "gradient", FACTS),
    fault("30x for 3x²", of_thirty_x, "float16", "gradient", FIRST),
    fault("half of the second derivative", of_wrong_second_derivative, "float16", "gradient", SECOND),
    fault("30x for 3x²", of_thirty_x, "bfloat16", "gradient", FIRST),
    fault("one conjugate too many", conjugated, "complex64", "gradient", FIRST),
    Fault(
        name="facts that say there is no gradient",
        op="cubed",
        check="gradient",
        says=FACTS,
        broken=of_vjp(of_thirty_x, "float32", differentiable=False),
        twin=TWINS["float32"],
    ),
]

test_fault_is_found, test_twin_passes = planted(FAULTS)


def test_what_is_not_checked_is_told() -> None:
    """Facts without a smooth sample leave the gradient unchecked, and the report says so."""
    rough = [replace(sample, smooth=False) for sample in table["square"].samples("float32", np.random.default_rng(0))]
    plant = of_vjp(right, "float32")
    plant = replace(plant, infos=(replace(plant.infos[0], samples=lambda dtype, rng: rough),))
    why = "none of the samples in the op's facts is smooth"
    assert failures(plant, ["cubed"]) == {
        "gradient": f"gradient not checked: {why}, with at most 70 elements",
        "forward": f"forward not checked: {why}",
        "linear": f"linear not checked: {why}",
    }
