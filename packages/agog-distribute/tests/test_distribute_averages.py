"""Averages: gradients of all ranks beside NumPy, and those of the whole batch in one process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_distribute as distribute
from agog_core.errors import AbortedError, InvalidArgumentError
from agog_distribute import Group
from agog_distribute.processes.alone import Alone
from agog_optimizers import AdamOptimizer, GradientAccumulator, GradientDescentOptimizer

SIZES = (2, 4)
RNG = np.random.default_rng(0)
INPUTS, TARGETS = (RNG.normal(size=(16, n)).astype(np.float32) for n in (6, 3))
WEIGHTS = [RNG.normal(size=shape).astype(np.float32) for shape in ((6, 5), (5,), (5, 3), (3,))]


def loss_of(variables: list[ag.Variable], inputs: Any, targets: Any) -> ag.Tensor:
    hidden = ag.tanh(ag.matmul(inputs, variables[0]) + variables[1])
    return ag.reduce_mean(ag.square(ag.matmul(hidden, variables[2]) + variables[3] - targets))


def share(values: np.ndarray, group: Group) -> ag.Tensor:
    return ag.constant(np.split(values, group.size)[group.rank])


def in_one_process(train: Any) -> Any:
    return train(Group([0], Alone()))


def assert_alike(results: list[Any], wanted: list[np.ndarray], tolerance: float = 1e-6) -> None:
    """Bits equal between ranks, numbers equal to those of one process."""
    for result in results:
        assert not isinstance(result, Exception), result
        for found, first, number in zip(result, results[0], wanted, strict=True):
            assert found.tobytes() == first.tobytes()
            assert np.linalg.norm(found - number) <= tolerance * np.linalg.norm(number)


def gradients_of(group: Group, traced: bool = False, wrapped: bool = False) -> list[np.ndarray]:
    variables = [ag.Variable(weight) for weight in WEIGHTS]

    def step(inputs: ag.Tensor, targets: ag.Tensor) -> list[ag.Tensor]:
        if wrapped:
            with ag.GradientTape() as plain:
                loss = loss_of(variables, inputs, targets)
            tape = distribute.DistributedGradientTape(plain, group=group)
        else:
            with distribute.DistributedGradientTape(group=group) as tape:
                loss = loss_of(variables, inputs, targets)
        found: list[ag.Tensor] = tape.gradient(loss, variables)
        return found

    run = ag.function(step) if traced else step
    for _ in range(3):
        found = run(share(INPUTS, group), share(TARGETS, group))
    return [gradient.numpy() for gradient in found]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_tape_gives_the_gradient_of_the_whole_batch(size: int, traced: bool, wrapped: bool, together: Any) -> None:
    results = together(size, lambda group: gradients_of(group, traced, wrapped))
    assert_alike(results, in_one_process(gradients_of))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_structures_of_any_dtypes_keep_their_form(size: int, reduction: str, together: Any) -> None:
    def averaged(group: Group) -> Any:
        given = {"a": (ag.constant([[1.0, float(group.rank)]]), None), "b": ag.constant(np.float64(group.rank))}
        found = distribute.average_gradients(given, group=group, reduction=reduction)
        assert found["a"][1] is None
        assert found["b"].dtype is ag.float64
        return found["a"][0].numpy(), found["b"].numpy()

    ranks = np.arange(size).sum() / (size if reduction == "mean" else 1)
    ones = 1 if reduction == "mean" else size
    for matrix, number in together(size, averaged):
        assert matrix.tolist() == [[ones, ranks]]
        assert number == ranks


@pytest.mark.parametrize("traced", [False, True])
def test_none_on_some_ranks_is_zero_there(traced: bool, together: Any) -> None:
    def gradients(group: Group) -> list[Any]:
        variables = [ag.Variable([2.0, 3.0]), ag.Variable([5.0]), ag.Variable(7.0)]

        def step() -> list[Any]:
            with distribute.DistributedGradientTape(group=group) as tape:
                loss = ag.reduce_sum(variables[0] * variables[0])
                if group.rank == 0:
                    loss = loss + ag.reduce_sum(variables[1] * 4.0)
            return tape.gradient(loss, variables)

        run = ag.function(step) if traced else step
        for _ in range(3):
            found = run()
        assert found[2] is None
        return [found[0].numpy().tolist(), found[1].numpy().tolist()]

    assert together(2, gradients) == [[[4.0, 6.0], [2.0]]] * 2


def test_none_without_a_variable_has_no_shape(together: Any) -> None:
    def averaged(group: Group) -> Any:
        return distribute.average_gradients([ag.ones([2]), None if group.rank else ag.ones([3])], group=group)

    _, error = together(2, averaged)
    assert isinstance(error, InvalidArgumentError)
    assert str(error) == (
        "average_gradients: gradient 1 is None here, but not in all processes; pass variables=, whose shapes the zeros "
        "can take."
    )


def test_unlike_gradients_are_told_to_all(together: Any) -> None:
    def averaged(group: Group) -> Any:
        return distribute.average_gradients([ag.ones([2]), ag.ones([2 + group.rank])], group=group)

    for error in together(2, averaged):
        assert isinstance(error, AbortedError)
        assert str(error) == (
            "average_gradients: gradient 1 is not of one form in all processes:\n"
            "  rank 0: float32 (2,)\n  rank 1: float32 (3,)"
        )


@pytest.mark.parametrize("rows", [4, 100])
@pytest.mark.parametrize("traced", [False, True])
def test_rows_of_lookups_are_those_of_all_ranks(rows: int, traced: bool, together: Any) -> None:
    table = RNG.normal(size=(rows, 3)).astype(np.float32)
    numbers = [[1, 3, 1], [3, 2]]

    def gradient(group: Group) -> Any:
        variable = ag.Variable(table)

        def step() -> Any:
            with distribute.DistributedGradientTape(group=group) as tape:
                loss = ag.reduce_sum(ag.square(ag.gather(variable, numbers[group.rank])))
            return tape.gradient(loss, variable)

        found = (ag.function(step) if traced else step)()
        assert isinstance(found, ag.IndexedSlices)
        assert set(found.indices.numpy().tolist()) == {1, 2, 3}
        return [ag.convert_to_tensor(found).numpy()]

    wanted = np.zeros_like(table)
    np.add.at(wanted, [1, 3, 1, 3, 2], table[[1, 3, 1, 3, 2]])  # 2 x, halved by the mean
    assert_alike(together(2, gradient), [wanted])


def test_rows_here_and_dense_or_nothing_there(together: Any) -> None:
    def gradients(group: Group) -> Any:
        dense, none = ag.Variable(np.ones((9, 2), np.float32)), ag.Variable(np.ones((9, 2), np.float32))
        with distribute.DistributedGradientTape(group=group) as tape:
            loss = ag.reduce_sum(ag.gather(dense, [1]) if group.rank else dense)
            loss += ag.reduce_sum(ag.gather(none, [1])) if group.rank else 0.0
        first, second = tape.gradient(loss, [dense, none])
        assert isinstance(second, ag.IndexedSlices)
        return first.numpy(), ag.convert_to_tensor(second).numpy()

    of_row = np.zeros((9, 2))
    of_row[1] = 0.5
    assert_alike(together(2, gradients), [of_row + 0.5, of_row])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kind", ["sgd", "adam", "accumulated"])
def test_minimize_takes_the_steps_of_one_process(size: int, traced: bool, kind: str, together: Any) -> None:
    def train(group: Group) -> list[np.ndarray]:
        variables = [ag.Variable(weight) for weight in WEIGHTS]
        inner: Any = AdamOptimizer(0.01) if kind == "adam" else GradientDescentOptimizer(0.1)
        optimizer: Any = distribute.DistributedOptimizer(inner, group)
        if kind == "accumulated":
            optimizer = GradientAccumulator(optimizer, 2)

        def step(inputs: ag.Tensor, targets: ag.Tensor) -> None:
            optimizer.minimize(lambda: loss_of(variables, inputs, targets))

        run = ag.function(step) if traced else step
        for _ in range(4):
            run(share(INPUTS, group), share(TARGETS, group))
        return [variable.numpy() for variable in variables]

    assert_alike(together(size, train), in_one_process(train), 3e-6)


@pytest.mark.parametrize("traced", [False, True])
def test_gradients_that_nobody_has_averaged_are_refused(traced: bool, together: Any) -> None:
    def train(group: Group) -> Any:
        variable = ag.Variable([1.0, 2.0])
        optimizer = distribute.DistributedOptimizer(GradientDescentOptimizer(0.1), group)

        def step() -> None:
            with ag.GradientTape() as tape:
                loss = ag.reduce_sum(variable * float(group.rank + 1))
            optimizer.apply_gradients([(tape.gradient(loss, variable), variable)])

        (ag.function(step) if traced else step)()

    for error in together(2, train):
        assert isinstance(error, AbortedError)
        assert str(error).startswith(
            "DistributedOptimizer.apply_gradients: the gradients differ between the processes, so nobody has averaged "
            "them; take them from a DistributedGradientTape or from compute_gradients, or call minimize."
        )


def test_clipping_sees_the_norm_of_one_process(together: Any) -> None:
    def train(group: Group) -> list[np.ndarray]:
        variables = [ag.Variable(weight) for weight in WEIGHTS]
        optimizer = distribute.DistributedOptimizer(GradientDescentOptimizer(0.1), group)
        with distribute.DistributedGradientTape(group=group) as tape:
            loss = loss_of(variables, share(INPUTS, group), share(TARGETS, group))
        clipped, _ = ag.clip_by_global_norm(tape.gradient(loss, variables), 0.1)
        optimizer.apply_gradients(zip(clipped, variables, strict=True))
        return [variable.numpy() for variable in variables]

    assert_alike(together(2, train), in_one_process(train))


@pytest.mark.parametrize("rows", [4, 100])
@pytest.mark.parametrize("traced", [False, True])
def test_clipping_sees_the_norm_of_rows_that_are_there_once(rows: int, traced: bool, together: Any) -> None:
    numbers = [[1, 3, 1], [3, 2, 3]]

    def norm(group: Group) -> Any:
        variable = ag.Variable(np.ones((rows, 3), np.float32))

        def step() -> Any:
            with distribute.DistributedGradientTape(group=group) as tape:
                loss = ag.reduce_sum(ag.gather(variable, numbers[group.rank]))
            return ag.global_norm([tape.gradient(loss, variable)])

        return [(ag.function(step) if traced else step)().numpy()]

    # Halves of what rows 1, 2 and 3 have: 2, 1 and 3 times a row of ones.
    assert_alike(together(2, norm), [np.sqrt(3 * (2**2 + 1**2 + 3**2)) / 2])


def test_pairs_are_averaged_as_pairs(together: Any) -> None:
    def averaged(group: Group) -> list[np.ndarray]:
        first, second = ag.Variable([1.0, 2.0]), ag.Variable(3.0)
        pairs = [(ag.constant([2.0, 4.0]) if group.rank else None, first), (ag.constant(float(group.rank)), second)]
        found = distribute.average_gradients(pairs, group=group)
        assert [variable is other for (_, variable), other in zip(found, (first, second), strict=True)] == [True, True]
        return [gradient.numpy() for gradient, _ in found]

    assert_alike(together(2, averaged), [np.array([1.0, 2.0]), np.array(0.5)])


@pytest.mark.parametrize("traced", [False, True])
def test_second_gradients_are_those_of_one_process(traced: bool, together: Any) -> None:
    def second(group: Group) -> list[np.ndarray]:
        variables = [ag.Variable(weight) for weight in WEIGHTS]

        def step(inputs: ag.Tensor, targets: ag.Tensor) -> list[ag.Tensor]:
            with distribute.DistributedGradientTape(group=group) as outer:
                with distribute.DistributedGradientTape(group=group) as inner:
                    loss = loss_of(variables, inputs, targets)
                norm = ag.add_n([ag.reduce_sum(ag.square(g)) for g in inner.gradient(loss, variables)])
            result: list[ag.Tensor] = outer.gradient(norm, variables[:3])
            return result

        run = ag.function(step) if traced else step
        for _ in range(3):
            found = run(share(INPUTS, group), share(TARGETS, group))
        return [gradient.numpy() for gradient in found]

    assert_alike(together(2, second), in_one_process(second), 2e-6)


def test_a_traced_function_under_a_tape_gives_the_gradient_of_the_whole_batch(together: Any) -> None:
    def gradients(group: Group) -> list[np.ndarray]:
        variables = [ag.Variable(weight) for weight in WEIGHTS]
        forward = ag.function(lambda inputs, targets: loss_of(variables, inputs, targets))
        for _ in range(3):
            with distribute.DistributedGradientTape(group=group) as tape:
                loss = forward(share(INPUTS, group), share(TARGETS, group))
            found = tape.gradient(loss, variables)
        return [gradient.numpy() for gradient in found]

    assert_alike(together(2, gradients), in_one_process(gradients))


def test_a_guard_that_fails_on_one_rank_sends_nothing_twice(together: Any) -> None:
    def gradients(group: Group) -> list[np.ndarray]:
        variables, found = [ag.Variable(weight) for weight in WEIGHTS], []

        @ag.function
        def step(inputs: ag.Tensor, targets: ag.Tensor, flag: ag.Tensor) -> list[ag.Tensor]:
            with distribute.DistributedGradientTape(group=group) as tape:
                loss = loss_of(variables, inputs, targets)
            result: list[ag.Tensor] = tape.gradient(loss, variables)
            return [g * 2.0 for g in result] if flag > 0 else result

        for turn in range(5):  # the way of rank 1 changes in the fourth
            flag = -1.0 if group.rank == 1 and turn == 3 else 1.0
            result = step(share(INPUTS, group), share(TARGETS, group), ag.constant(flag))
            found += [gradient.numpy() * (1.0 if flag > 0 else 2.0) for gradient in result]
        return found

    assert_alike(together(2, gradients), in_one_process(gradients))


def test_persistent_tapes_lists_of_targets_and_unconnected_sources(together: Any) -> None:
    def gradients(group: Group) -> Any:
        variable, other = ag.Variable([2.0]), ag.Variable([3.0])
        with distribute.DistributedGradientTape(persistent=True, group=group) as tape:
            targets = [variable * float(group.rank), variable * variable]
        twice = [tape.gradient(targets, variable).numpy().tolist() for _ in range(2)]
        return twice, tape.gradient(targets, other, unconnected_gradients="zero").numpy().tolist()

    assert together(2, gradients) == [([[4.5], [4.5]], [0.0])] * 2


def test_a_tape_that_records_still_is_not_wrapped() -> None:
    with ag.GradientTape() as tape, pytest.raises(ValueError, match="wrap it behind its with block"):
        distribute.DistributedGradientTape(tape)


def test_a_wrapped_tape_is_used_once() -> None:
    variable = ag.Variable(3.0)
    with ag.GradientTape() as plain:
        loss = variable * variable
    tape = distribute.DistributedGradientTape(plain)
    assert tape.gradient(loss, variable).numpy() == 6.0
    for used in (tape, plain):
        with pytest.raises(RuntimeError, match="only be called once"):
            used.gradient(loss, variable)


@pytest.mark.parametrize(
    "make", [distribute.DistributedGradientTape, lambda **k: distribute.average_gradients([], **k)]
)
def test_other_reductions_are_refused(make: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="reduction must be 'mean' or 'sum'; got 'max'"):
        make(reduction="max")
