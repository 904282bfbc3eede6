"""Optimizer steps: float64 by hand, the bits of the reference, and many variables by one call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.updates.adam import apply_adam
from agog_core.ops.updates.descent import apply_momentum
from agog_core.plugin import threads
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import optimizer_steps
from agog_cpu_numpy import kernels as reference

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

SHAPES = ((20_000,), (3,), (), (17, 5), (0,), (8192,), (8193, 2))
ADAM = {"learning_rate": 0.1, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-7, "use_nesterov": False, "weight_decay": 0.0}
MOMENTUM = {"learning_rate": 0.1, "momentum": 0.9, "use_nesterov": False}
CALLS: Sequence[tuple[str, int, dict[str, Any]]] = (
    ("apply_adam", 4, ADAM),
    ("apply_adam", 4, {**ADAM, "use_nesterov": True, "weight_decay": 0.1}),
    ("apply_momentum", 3, MOMENTUM),
    ("apply_momentum", 3, {**MOMENTUM, "use_nesterov": True}),
)


def groups(count: int, dtype: str, shapes: Sequence[tuple[int, ...]] = SHAPES) -> list[tuple[np.ndarray, ...]]:
    random = np.random.default_rng(1)
    return [tuple(np.asarray(abs(random.normal(size=shape)), dtype) for _ in range(count)) for shape in shapes]


def copied(given: list[tuple[np.ndarray, ...]]) -> list[tuple[np.ndarray, ...]]:
    return [tuple(array.copy() for array in arrays) for arrays in given]


def by_hand(op: str, arrays: Sequence[np.ndarray], given: dict[str, Any]) -> list[np.ndarray]:
    """The variable and slots after a step, in float64."""
    w, *slots, g = [array.astype(np.float64) for array in arrays]
    rate = given["learning_rate"]
    if op == "apply_momentum":
        share = given["momentum"]
        total = slots[0] * share + g
        return [w - rate * (g + share * total if given["use_nesterov"] else total), total]
    beta1, beta2 = given["beta1"], given["beta2"]
    m, v = beta1 * slots[0] + (1 - beta1) * g, beta2 * slots[1] + (1 - beta2) * g**2
    ahead = beta1 * m + (1 - beta1) * g if given["use_nesterov"] else m
    return [w * (1 - given["weight_decay"]) - rate * ahead / (np.sqrt(v) + given["epsilon"]), m, v]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("op", "count", "given"), CALLS)
def test_several_variables_are_updated_by_one_call(op: str, count: int, given: dict[str, Any], dtype: str) -> None:
    before = groups(count, dtype)
    wanted, got = copied(before), copied(before)
    for arrays in wanted:
        getattr(reference, op)(*arrays, **given)
    assert optimizer_steps.make_several(op, dtype, "cpu:0")(got, **given) is None
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    for old, new, expected in zip(before, got, wanted, strict=True):
        for array, exact in zip(new, by_hand(op, old, given), strict=False):
            np.testing.assert_allclose(array, exact, rtol=tolerance, atol=tolerance)
        for array, bits in zip(new, expected, strict=True):
            np.testing.assert_array_equal(array, bits)


def test_odd_numbers_have_the_bits_of_the_reference() -> None:
    odd = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42, 3e38, -3e38, 1e-30])
    arrays = tuple(np.roll(np.resize(odd, 20_000), n) for n in range(4))
    wanted = tuple(array.copy() for array in arrays)
    with np.errstate(all="ignore"):
        reference.apply_adam(*wanted, **ADAM)
    optimizer_steps.make("apply_adam", "float32", "cpu:0")(*arrays, **ADAM)
    for array, expected in zip(arrays, wanted, strict=True):
        np.testing.assert_array_equal(array, expected)


def test_nothing_beside_an_array_is_written() -> None:
    memory = [np.full(20_005, 7, np.float32) for _ in range(4)]
    optimizer_steps.make("apply_adam", "float32", "cpu:0")(*[each[1:-1] for each in memory], **ADAM)
    for each in memory:
        assert each[0] == each[-1] == 7
    assert (memory[0][1:-1] != 7).all()


def test_any_number_of_threads_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    from agog_cpu_llvm.team import team

    before, results = groups(4, "float32"), []
    for count in (1, 2, 3):
        monkeypatch.setattr(team._present, "count", count)
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        results.append(copied(before))
        optimizer_steps.make_several("apply_adam", "float32", "cpu:0")(results[-1], **ADAM)
    for one, *others in zip(*results, strict=True):
        for other in others:
            for array, same in zip(one, other, strict=True):
                np.testing.assert_array_equal(array, same)


def test_a_gradient_of_any_layout_is_taken_and_a_variable_of_another_is_not() -> None:
    step = optimizer_steps.make_several("apply_momentum", "float32", "cpu:0")
    (arrays,) = groups(3, "float32", [(150, 150)])
    turned = np.asfortranarray(arrays[2])
    wanted, (got,) = tuple(array.copy() for array in arrays), copied([arrays])
    reference.apply_momentum(*wanted, **MOMENTUM)
    assert step([(*got[:2], turned)], **MOMENTUM) is None
    np.testing.assert_array_equal(got[0], wanted[0])
    untouched = arrays[0].copy()
    assert step([arrays, (np.asfortranarray(arrays[0]), *arrays[1:])], **MOMENTUM) is NotImplemented
    np.testing.assert_array_equal(arrays[0], untouched)


def test_a_few_small_steps_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    compiled = optimizer_steps.compiled
    monkeypatch.setattr(optimizer_steps, "compiled", lambda name, *given: asked.append(name) or compiled(name, *given))
    step, given = optimizer_steps.make_several("apply_adam", "float32", "cpu:0"), groups(4, "float32", [(3,), (4, 5)])
    assert [step(given, **ADAM) for _ in range(optimizer_steps.PATIENCE)] == [NotImplemented] * optimizer_steps.PATIENCE
    assert not asked
    assert step(given, **ADAM) is None
    assert asked


@pytest.mark.parametrize(("step", "slots", "given"), [(apply_adam, 2, ADAM), (apply_momentum, 1, MOMENTUM)])
def test_a_training_has_the_bits_of_the_reference(step: Any, slots: int, given: dict[str, Any]) -> None:
    found = []
    for kept in ("cpu-numpy", None):
        ag.prefer(*([kept] if kept else []))
        try:
            random, shapes = np.random.default_rng(3), ((30, 700), (700,), ())
            variables = [ag.Variable(np.asarray(random.normal(size=shape), "float32")) for shape in shapes]
            states = [[ag.Variable(np.zeros(shape, "float32")) for _ in range(slots)] for shape in shapes]
            held = variables[1].value()  # whose memory is not written
            before = held.numpy().copy()
            for _ in range(5):
                gradients = [ag.constant(np.asarray(random.normal(size=shape), "float32")) for shape in shapes]
                triples = zip(variables, states, gradients, strict=True)
                step.several([((variable, *state), (gradient,)) for variable, state, gradient in triples], **given)
            np.testing.assert_array_equal(held.numpy(), before)
            found.append([each.numpy() for each in (*variables, *chain(*states))])
        finally:
            ag.prefer()
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
