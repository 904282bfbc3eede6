"""Regularizers and constraints: values, gradients, names and descriptions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense, constraints, initializers, regularizers
from agog_testing import says

SEED = 4
W = np.random.default_rng(SEED).normal(size=(4, 3))


@pytest.mark.parametrize(
    ("regularizer", "expected"),
    [
        (regularizers.L1L2(), 0.0),
        (regularizers.l1(), 0.01 * np.abs(W).sum()),
        (regularizers.l2(), 0.01 * (W**2).sum()),
        (regularizers.l1_l2(), 0.01 * np.abs(W).sum() + 0.01 * (W**2).sum()),
        (regularizers.l1_l2(0.5, 3.0), 0.5 * np.abs(W).sum() + 3 * (W**2).sum()),
        (regularizers.l1_regularizer(0.5), 0.5 * np.abs(W).sum()),
        (regularizers.l2_regularizer(0.5), 0.25 * (W**2).sum()),
        (regularizers.l1_l2_regularizer(), np.abs(W).sum() + 0.5 * (W**2).sum()),
        (regularizers.sum_regularizer([regularizers.l1(1.0), None, ag.reduce_sum]), np.abs(W).sum() + W.sum()),
    ],
)
def test_regularizers(regularizer: Any, expected: float, check_gradients: Callable[..., None]) -> None:
    got = regularizer(ag.constant(W))
    assert got.dtype == ag.float64
    assert got.shape == ()
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, err_msg=f"seed {SEED}")
    if expected:
        check_gradients(regularizer, [W])


def test_regularizers_of_variables() -> None:
    layer = Dense(2, kernel_initializer="ones", kernel_regularizer=regularizers.l2(0.5))
    layer(ag.zeros([1, 3]))
    with ag.GradientTape() as tape:
        (loss,) = layer.losses
    assert float(loss) == 3.0
    np.testing.assert_array_equal(tape.gradient(loss, layer.kernel).numpy(), np.ones((3, 2)))


def test_no_regularizer() -> None:
    assert regularizers.sum_regularizer([None]) is None
    assert regularizers.get(None) is None
    assert constraints.get(None) is None


@pytest.mark.parametrize("name", ["l1_regularizer", "l2_regularizer", "l1_l2_regularizer"])
@pytest.mark.parametrize("scale", [1, -0.5])
def test_scales(name: str, scale: float) -> None:
    with says(ValueError, f"{name}: the scale must be a float that is not negative; got {scale}."):
        getattr(regularizers, name)(scale)


def lengths(axis: Any) -> Any:
    return np.sqrt((W**2).sum(axis, keepdims=True))


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (constraints.NonNeg(), np.maximum(W, 0)),
        (constraints.UnitNorm(), W / lengths(0)),
        (constraints.UnitNorm(axis=1), W / lengths(1)),
        (constraints.UnitNorm(axis=[0, 1]), W / lengths((0, 1))),
        (constraints.MaxNorm(), W * np.minimum(2 / lengths(0), 1)),
        (constraints.MaxNorm(0.5, axis=1), W * np.minimum(0.5 / lengths(1), 1)),
        (constraints.MinMaxNorm(), W * np.minimum(1 / lengths(0), 1)),
        (constraints.MinMaxNorm(1.5, 1.6, 1.0, 1), W * np.clip(lengths(1), 1.5, 1.6) / lengths(1)),
        (
            constraints.MinMaxNorm(1.5, 1.6, 0.25),
            W * (0.25 * np.clip(lengths(0), 1.5, 1.6) + 0.75 * lengths(0)) / lengths(0),
        ),
    ],
)
def test_constraints(constraint: Any, expected: Any) -> None:
    for value in (ag.constant(W), ag.Variable(W)):
        # A length has 1e-7 added before the division.
        np.testing.assert_allclose(constraint(value).numpy(), expected, rtol=1e-6, err_msg=f"seed {SEED}")


def test_zeros_stay_zeros() -> None:
    for constraint in (constraints.UnitNorm(), constraints.MaxNorm(), constraints.MinMaxNorm(0.5)):
        assert constraint(ag.zeros([2, 2])).numpy().tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("module", "made", "config"),
    [
        (regularizers, regularizers.l1_l2(0.5, 0.25), {"l1": 0.5, "l2": 0.25}),
        (constraints, constraints.MaxNorm(3, 1), {"max_value": 3, "axis": 1}),
        (constraints, constraints.NonNeg(), {}),
        (constraints, constraints.UnitNorm([0, 1]), {"axis": [0, 1]}),
        (constraints, constraints.MinMaxNorm(), {"min_value": 0.0, "max_value": 1.0, "rate": 1.0, "axis": 0}),
        (
            initializers,
            initializers.RandomNormal(stddev=0.5, seed=3),
            {"mean": 0.0, "stddev": 0.5, "seed": 3, "dtype": "float32"},
        ),
        (
            initializers,
            initializers.he_normal(),
            {"scale": 2.0, "mode": "fan_in", "distribution": "truncated_normal", "seed": None, "dtype": "float32"},
        ),
    ],
)
def test_descriptions(module: Any, made: Any, config: dict[str, Any]) -> None:
    described = module.serialize(made)
    assert described == {"class_name": type(made).__name__, "config": config}
    for again in (module.deserialize(json.loads(json.dumps(described))), module.get(described)):
        assert type(again) is type(made)
        assert module.serialize(again) == described


def test_names() -> None:
    for name in ("l1", "l2", "l1_l2", "L1L2"):
        assert isinstance(regularizers.get(name), regularizers.L1L2)
    for name, kind in (("max_norm", "MaxNorm"), ("non_neg", "NonNeg"), ("unit_norm", "UnitNorm")):
        assert type(constraints.get(name)) is type(constraints.get(kind)) is getattr(constraints, name)
    assert constraints.get(ag.abs) is ag.abs
    assert constraints.serialize(constraints.get(constraints.MaxNorm))["config"] == {"max_value": 2, "axis": 0}
    for name, other in (("uniform", "RandomUniform"), ("normal", "random_normal"), ("zero", "Zeros"), ("one", "ones")):
        assert initializers.serialize(initializers.get(name)) == initializers.serialize(initializers.get(other))


def test_programs_own_objects() -> None:
    class Own(regularizers.Regularizer):
        def __init__(self, factor: float) -> None:
            self.factor = factor

    described = {"class_name": "Own", "config": {"factor": 3.0}}
    assert regularizers.serialize(Own(3.0)) == described
    assert regularizers.deserialize(described, {"Own": Own}).factor == 3.0
    assert constraints.deserialize("mine", {"mine": ag.abs}) is ag.abs
    with says(NotImplementedError, "Own.__call__ is not implemented; it returns the penalty."):
        Own(1.0)(1.0)
    with says(NotImplementedError, "Constraint.__call__ is not implemented; it returns the new value."):
        constraints.Constraint()(1.0)


def test_unknown_names() -> None:
    with says(
        ValueError,
        "Unknown regularizer 'l3'; the names are l1, l1_l2, l2, orthogonal_regularizer.",
    ):
        regularizers.get("l3")
    with says(
        ValueError,
        "Unknown constraint 'norm'; the names are max_norm, min_max_norm, non_neg, unit_norm.",
    ):
        constraints.get("norm")
    with says(TypeError, "A regularizer is a name, a function, or what serialize returned; got 0.01 of type float."):
        regularizers.get(0.01)


@pytest.mark.parametrize("mode", ["rows", "columns"])
def test_orthogonal_regularizer(mode: str) -> None:
    weight = np.random.default_rng(8).normal(size=(4, 3))
    rows = weight if mode == "rows" else weight.T
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = [abs(rows[i] @ rows[j]) for i in range(len(rows)) for j in range(len(rows)) if i != j]
    penalty = regularizers.OrthogonalRegularizer(0.5, mode)(weight).numpy()
    np.testing.assert_allclose(penalty, 0.5 * np.mean(cosines))


def test_orthogonal_regularizer_says_what_is_wrong() -> None:
    with says(ValueError, "OrthogonalRegularizer: mode must be 'rows' or 'columns'; got 'both'."):
        regularizers.OrthogonalRegularizer(mode="both")
    with says(ValueError, "OrthogonalRegularizer: the weight must be a matrix; got shape (2,)."):
        regularizers.OrthogonalRegularizer()([1.0, 2.0])
