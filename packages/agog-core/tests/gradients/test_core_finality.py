"""Finality: which gradients a walk back tells of, when, and that they are final."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag


def walk(loss_of: Any, variables: list[ag.Variable], persistent: bool = False) -> tuple[list[Any], list[Any]]:
    """What is told while a tape walks back, and the results."""
    told: list[Any] = []

    def tell(place: int, gradient: Any) -> None:
        told.append((place, None if gradient is None else ag.convert_to_tensor(gradient).numpy().tolist()))

    with ag.GradientTape(persistent) as tape:
        loss = loss_of(*variables)
    results = tape.pull_back([loss], variables, None, tell)
    return told, [None if g is None else ag.convert_to_tensor(g).numpy().tolist() for g in results]


def variables(count: int) -> list[ag.Variable]:
    return [ag.Variable([float(n + 2), float(n + 3)]) for n in range(count)]


@pytest.mark.parametrize("persistent", [False, True])
def test_the_last_used_is_told_of_first(persistent: bool) -> None:
    vs = variables(4)
    told, results = walk(lambda a, b, c, d: ag.reduce_sum(((a * a) * b) * c * a), vs, persistent)
    assert [place for place, _ in told] == [3, 2, 1, 0]  # the last has no gradient; the first is used first
    assert dict(told) == dict(enumerate(results))
    a, b, c = (v.numpy() for v in vs[:3])
    for found, wanted in zip(results, (3 * a * a * b * c, a**3 * c, a**3 * b, None), strict=True):
        assert found is None if wanted is None else np.allclose(found, wanted)


def test_both_operands_of_one_op_are_told_of_behind_it() -> None:
    told, results = walk(
        lambda a, b: ag.reduce_sum(ag.maximum(a, b) + ag.matmul([a], [b], transpose_b=True)), variables(2)
    )
    assert dict(told) == dict(enumerate(results))


@pytest.mark.parametrize("traced", [False, True])
def test_variables_inside_of_functions_and_lookups(traced: bool) -> None:
    def layer(x: ag.Tensor, v: ag.Variable) -> ag.Tensor:
        for _ in range(20):
            x = ag.tanh(x * v + ag.gather(v, [0, 0]))
        return x

    vs = variables(2)
    run = ag.function(lambda x: layer(x, vs[0])) if traced else lambda x: layer(x, vs[0])
    for _ in range(3):
        told, results = walk(lambda a, b: ag.reduce_sum(run(b) * b), vs)
        assert sorted(place for place, _ in told) == [0, 1]
        assert dict(told) == dict(enumerate(results))


def test_what_the_records_have_made_is_not_told_of() -> None:
    told: list[int] = []
    v = ag.Variable(3.0)
    with ag.GradientTape() as tape:
        middle = v * v
        loss = middle * middle
    results = tape.pull_back([loss], [middle, v], None, lambda place, gradient: told.append(place))
    assert told == [1]
    assert [float(g) for g in results] == [18.0, 108.0]


def test_a_variable_of_several_values_is_not_told_of() -> None:
    def loss(a: ag.Variable, b: ag.Variable) -> ag.Tensor:
        first = ag.reduce_sum(a * b)
        a.assign([1.0, 1.0])
        return first + ag.reduce_sum(a * a)

    told, results = walk(loss, variables(2))
    assert [place for place, _ in told] == [1]
    assert results[0] == [5.0, 6.0]
