"""The optimizers' steps on the host, against those of the device "cpu": no bit may differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from guarded_memory import guarded

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import optimizers

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)
RATE = {"learning_rate": 0.01}
ADAM = {**RATE, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
# For each case the op, how many slots its variable has, and its attributes.
CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "add": ("apply_add", 0, {"scale": 1}),
    "subtract": ("apply_add", 0, {"scale": -1}),
    "add_scaled": ("apply_add", 0, {"scale": 0.3}),
    "gradient_descent": ("apply_gradient_descent", 0, RATE),
    "momentum": ("apply_momentum", 1, {**RATE, "momentum": 0.9, "use_nesterov": False}),
    "nesterov": ("apply_momentum", 1, {**RATE, "momentum": 0.9, "use_nesterov": True}),
    "keras_momentum": ("apply_keras_momentum", 1, {**RATE, "momentum": 0.9, "use_nesterov": False}),
    "keras_nesterov": ("apply_keras_momentum", 1, {**RATE, "momentum": 0.9, "use_nesterov": True}),
    "adam": ("apply_adam", 2, {**ADAM, "use_nesterov": False, "weight_decay": 0.0}),
    "nadam": ("apply_adam", 2, {**ADAM, "use_nesterov": True, "weight_decay": 0.0}),
    "adamw": ("apply_adam", 2, {**ADAM, "use_nesterov": False, "weight_decay": 0.004}),
    "amsgrad": ("apply_amsgrad", 3, ADAM),
    "adamax": ("apply_adamax", 2, ADAM),
    "lion": ("apply_lion", 1, {**RATE, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1}),
    "adadelta": ("apply_adadelta", 2, {**RATE, "rho": 0.95, "epsilon": 1e-7}),
    "adagrad": ("apply_adagrad", 1, RATE),
    "adagrad_da": ("apply_adagrad_da", 2, {**RATE, "l1": 0.0, "l2": 0.1, "step": 3}),
    "adagrad_da_l1": ("apply_adagrad_da", 2, {**RATE, "l1": 0.2, "l2": 0.1, "step": 3}),
    "rmsprop": ("apply_rmsprop", 2, {**RATE, "decay": 0.9, "momentum": 0.0, "epsilon": 1e-10}),
    "rmsprop_momentum": ("apply_rmsprop", 2, {**RATE, "decay": 0.9, "momentum": 0.8, "epsilon": 1e-10}),
    "centered_rmsprop": ("apply_centered_rmsprop", 3, {**RATE, "decay": 0.9, "momentum": 0.8, "epsilon": 20.0}),
    "proximal": ("apply_proximal_gradient_descent", 0, {**RATE, "l1": 0.0, "l2": 0.2}),
    "proximal_l1": ("apply_proximal_gradient_descent", 0, {**RATE, "l1": 20.0, "l2": 0.2}),
    "proximal_adagrad": ("apply_proximal_adagrad", 1, {**RATE, "l1": 0.0, "l2": 0.2}),
    "proximal_adagrad_l1": ("apply_proximal_adagrad", 1, {**RATE, "l1": 2.0, "l2": 0.2}),
    "ftrl": ("apply_ftrl", 2, {**RATE, "learning_rate_power": -0.5, "l1": 0.3, "l2": 0.2, "l2_shrinkage": 0.0}),
    "ftrl_shrunk": ("apply_ftrl", 2, {**RATE, "learning_rate_power": -0.5, "l1": 0.3, "l2": 0.2, "l2_shrinkage": 0.1}),
}


def _variable(seed: int, size: int, slots: int, dtype: str) -> tuple[Any, ...]:
    """A variable, slots that hold no negative numbers, and a gradient with some zeros; all between guarded pages."""
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(size) for _ in range(slots + 2)]
    arrays[-1][::7] = 0
    arrays = [np.abs(array) if 0 < n <= slots else array for n, array in enumerate(arrays)]
    return tuple(guarded(array.astype(dtype), is_first=bool(seed % 2)) for array in arrays)


def _same(found: tuple[Any, ...], expected: tuple[Any, ...]) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("seed", [7, 8])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_step_has_the_bits_of_the_cpu(either_modules: Any, dtype: str, case: str, seed: int) -> None:
    op, slots, attributes = CASES[case]
    found = _variable(seed, 1001, slots, numpy_dtype(dtype))
    expected = tuple(array.copy() for array in found)
    for _ in range(3):
        REFERENCE(op)(*expected, **attributes)
        assert getattr(optimizers, op)(either_modules, [found], **attributes) is None
    assert not np.isnan(found[0].astype("f8")).any()
    assert _same(found, expected)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", [int, np.float32, np.float64, np.int64, np.array])
def test_numbers_of_any_kind_are_doubles(modules: Any, case: str, kind: Any) -> None:
    op, slots, attributes = CASES[case]
    given = {name: value if isinstance(value, bool) else kind(value) for name, value in attributes.items()}
    given |= {name: attributes[name] for name in ("learning_rate_power", "step") if name in attributes}
    if kind in (int, np.int64):
        given |= {name: kind(2) for name in ("learning_rate", "scale", "epsilon") if name in given}
    expected, found = _variable(3, 40, slots, "float64"), _variable(3, 40, slots, "float64")
    REFERENCE(op)(*expected, **given)
    getattr(optimizers, op)(modules, [found], **given)
    assert not np.array_equal(found[0], _variable(3, 40, slots, "float64")[0])
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)


@pytest.mark.parametrize("kind", [int, np.float32])
def test_lamb_takes_numbers_of_any_kind(modules: Any, kind: Any) -> None:
    given = {**LAMB, "learning_rate": kind(1)}
    expected, found = _variable(3, 40, 2, "float64"), _variable(3, 40, 2, "float64")
    REFERENCE("apply_lamb")(*expected, **given)
    optimizers.apply_lamb(modules, [found], **given)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)  # NumPy scales a float32 rate in float32


@pytest.mark.parametrize("count", [1, 3, 24, 30])
def test_many_variables_take_their_steps_in_few_launches(modules: Any, order: str, count: int) -> None:
    sizes = [1, 513, 0, 127, 128, 2000]
    found = [_variable(n, sizes[n % len(sizes)], 2, "float32") for n in range(count)]
    expected = [tuple(array.copy() for array in one) for one in found]
    for one in expected:
        REFERENCE("apply_adam")(*one, **CASES["adam"][2])
    numbers = 0.01, 1e-8, 0.9, 1 - 0.9, 1 - 0.999, 1.0, False
    assert optimizers.step_all(modules, "apply_adam", found, *numbers) is None
    assert all(_same(one, other) for one, other in zip(found, expected, strict=True))


LAMB = {**RATE, "correction": 1.3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6, "weight_decay": 0.01}
# Of the variable, whose step is scaled by norms: two float64 sums in different orders, and their root.
LAMB_TOLERANCES = {"float16": 0, "bfloat16": 0, "float32": 6e-8, "float64": 1e-15}


@pytest.mark.parametrize("dtype", LAMB_TOLERANCES)
def test_lamb_moves_as_on_the_cpu(either_modules: Any, order: str, dtype: str) -> None:
    found = _variable(7, 3001, 2, numpy_dtype(dtype))
    expected = tuple(array.copy() for array in found)
    for _ in range(3):
        REFERENCE("apply_lamb")(*expected, **LAMB)
        assert optimizers.apply_lamb(either_modules, [found], **LAMB) is None
    assert _same(found[1:], expected[1:])
    tolerance = LAMB_TOLERANCES[dtype]
    np.testing.assert_allclose(found[0].astype("f8"), expected[0].astype("f8"), rtol=tolerance, atol=tolerance)


def test_lamb_steps_many_variables_in_two_launches_each_by_its_own_norms(modules: Any, order: str) -> None:
    found = [_variable(n, size, 2, "float32") for n, size in enumerate([1, 513, 0, 2000, 127] * 5)]
    expected = [tuple(array.copy() for array in one) for one in found]
    for one in expected:
        if one[0].size:
            REFERENCE("apply_lamb")(*one, **LAMB)
    assert optimizers.apply_lamb(modules, found, **LAMB) is None
    for one, other in zip(found, expected, strict=True):
        assert _same(one[1:], other[1:])
        np.testing.assert_allclose(one[0], other[0], rtol=6e-8, atol=6e-8)


@pytest.mark.parametrize("zeros", [slice(0, 1), slice(1, 4)], ids=["variable", "direction"])
def test_lamb_without_a_norm_takes_the_step_as_it_is(modules: Any, zeros: slice) -> None:
    found = _variable(7, 300, 2, "float32")
    for array in found[zeros]:
        array[...] = 0
    expected = tuple(array.copy() for array in found)
    attributes = {**LAMB, "weight_decay": 0.0}
    REFERENCE("apply_lamb")(*expected, **attributes)
    optimizers.apply_lamb(modules, [found], **attributes)
    assert _same(found, expected)


def test_a_step_that_meets_nan_gives_nan_as_the_cpu_does(modules: Any, order: str) -> None:
    for case in ("amsgrad", "adamax", "lion", "adagrad_da_l1", "proximal_adagrad_l1", "ftrl"):
        op, slots, attributes = CASES[case]
        found = _variable(5, 100, slots, "float32")
        found[-1][3] = np.nan
        expected = tuple(array.copy() for array in found)
        REFERENCE(op)(*expected, **attributes)
        getattr(optimizers, op)(modules, [found], **attributes)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=case)


def test_what_the_steps_do_not_serve_is_declined(modules: Any) -> None:
    integers = np.ones(3, "i4"), np.ones(3, "i4")
    assert optimizers.apply_add(modules, [integers], scale=1) is NotImplemented
    with_gaps = np.ones(6, "f4")[::2], np.ones(3, "f4")
    assert optimizers.apply_add(modules, [with_gaps], scale=1) is NotImplemented
    mixed = np.ones(3, "f4"), np.ones(3, "f8")
    assert optimizers.apply_add(modules, [mixed], scale=1) is NotImplemented
    assert optimizers.apply_lamb(modules, [integers], **LAMB) is NotImplemented
    *arrays, attributes = *_variable(1, 3, 2, "float32"), {**CASES["ftrl"][2], "learning_rate_power": -0.7}
    assert optimizers.apply_ftrl(modules, [arrays], **attributes) is NotImplemented
