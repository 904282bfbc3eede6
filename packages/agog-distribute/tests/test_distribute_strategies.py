"""Strategies: threads as replicas, beside one process and NumPy."""

from __future__ import annotations

import json
from threading import BrokenBarrierError
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_distribute as distribute
from agog_core.random import Generator, generator, set_generator
from agog_core.replicas import present_replicas
from agog_data import Dataset
from agog_distribute import Group, MirroredStrategy, Strategy
from agog_distribute.processes.alone import Alone
from agog_distribute.strategies.cluster import check_cluster
from agog_optimizers import AdamOptimizer, GradientDescentOptimizer
from agog_testing import says

SIZES = (2, 4)
RNG = np.random.default_rng(0)
INPUTS, TARGETS = (RNG.normal(size=(13, n)).astype(np.float32) for n in (6, 2))


def results(found: list[Any]) -> list[Any]:
    failed = [result for result in found if isinstance(result, Exception)]
    for error in failed:
        if not isinstance(error, BrokenBarrierError):  # others stopped waiting for this one
            raise error
    assert not failed
    return found


@pytest.mark.parametrize("size", SIZES)
def test_variables_begin_with_the_values_of_rank_0(size: int, together: Any) -> None:
    def values(group: Group) -> tuple[np.ndarray, ...]:
        strategy = Strategy(group)
        with strategy.scope():
            first = ag.Variable(float(group.rank))
        second = strategy.run(lambda: ag.Variable(10.0 + group.rank))
        own = ag.Variable(float(group.rank))
        return first.numpy(), second.numpy(), own.numpy()

    assert results(together(size, values)) == [(0.0, 10.0, rank) for rank in range(size)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("how", ["eager", "traced"])
@pytest.mark.parametrize("optimizer", [GradientDescentOptimizer, AdamOptimizer])
def test_a_step_is_that_of_one_process(optimizer: Any, how: str, size: int, together: Any) -> None:
    def train(strategy: Strategy) -> list[np.ndarray]:
        ag.set_random_seed(1)
        with strategy.scope():
            weights = ag.Variable(np.ones((6, 2), np.float32))
            takes_steps = optimizer(0.1)

        def step(x: Any, y: Any) -> Any:
            with ag.GradientTape() as tape:
                loss = ag.reduce_sum(ag.square(ag.matmul(x, weights) - y)) / len(INPUTS)
            takes_steps.apply_gradients([(tape.gradient(loss, weights), weights)])
            return loss

        def whole(x: Any, y: Any) -> Any:
            return strategy.reduce("SUM", strategy.run(step, args=(x, y)))

        found = []
        run = ag.function(whole) if how == "traced" else whole
        dataset = Dataset.from_tensor_slices((INPUTS, TARGETS)).batch(7)
        for _ in range(2):
            found += [run(*batch).numpy() for batch in strategy.experimental_distribute_dataset(dataset)]
        return [*found, weights.numpy()]

    wanted = train(Strategy(Group([0], Alone())))
    for found in results(together(size, lambda group: train(Strategy(group)))):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-6)


def test_a_step_outside_of_run_is_refused(together: Any) -> None:
    def train(group: Group) -> None:
        with Strategy(group).scope():
            v = ag.Variable(1.0)
            GradientDescentOptimizer(0.1).apply_gradients([(ag.constant(1.0), v)])

    text = (
        "apply_gradients() cannot be called in cross-replica context: the replicas would part. Use "
        "`tf.distribute.Strategy.run` to enter replica context: strategy.run(step, args=(batch,))."
    )
    with says(RuntimeError, text):
        results(together(2, train))


@pytest.mark.parametrize("size", SIZES)
def test_reductions_and_gathers_of_unequal_parts(size: int, together: Any) -> None:
    parts = [RNG.normal(size=(rank, 3)).astype(np.float32) for rank in range(size)]

    def found(group: Group) -> list[Any]:
        strategy, part = Strategy(group), parts[group.rank]
        return [
            strategy.reduce(distribute.ReduceOp.SUM, {"a": 1.0 + group.rank})["a"].numpy(),
            strategy.reduce(distribute.ReduceOp.MEAN, part, axis=0).numpy(),
            strategy.reduce("SUM", part, axis=0).numpy(),
            strategy.gather(part, axis=0).numpy(),
            strategy.gather(part.T, axis=1).numpy(),
            strategy.run(lambda: distribute.get_replica_context().all_gather(part, 0)).numpy(),
        ]

    whole = np.concatenate(parts)
    wanted = [sum(range(1, size + 1)), whole.mean(0), whole.sum(0), whole, whole.T, whole]
    for result in results(together(size, found)):
        for one, other in zip(result, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


def test_dropout_differs_and_initial_values_do_not(together: Any) -> None:
    def found(group: Group) -> tuple[list[list[float]], dict[str, Any]]:
        if group.rank == 0:
            ag.set_random_seed(5)
        strategy = Strategy(group)

        def draw() -> ag.Tensor:
            return ag.random_uniform([3], seed=2)

        shared = ag.random_uniform([3]).numpy().tolist()
        eager, traced = (strategy.run(draw).numpy().tolist() for _ in range(2))
        step = ag.function(lambda: strategy.run(draw))
        again = [step().numpy().tolist() for _ in range(3)]
        variable = strategy.run(lambda: ag.Variable(lambda: ag.random_uniform([3]))).numpy().tolist()
        return [eager, traced, *again, variable, shared], generator().get_state()

    first, second = results(together(2, found))
    for one, other in zip(first[0][:5], second[0][:5], strict=True):
        assert one != other
    assert len({tuple(draw) for draw in first[0]}) == 7  # no two alike
    assert first[0][5:] == second[0][5:]
    ag.set_random_seed(5)
    assert ag.random_uniform([3]).numpy().tolist() == first[0][6]  # as in one process
    assert ag.random_uniform([3]).numpy().tolist() == first[0][5]
    assert results(together(2, found))[1][0] == second[0]
    assert first[1] == second[1]  # what a checkpoint holds


def test_one_process_draws_as_without_a_strategy() -> None:
    before = generator()
    try:
        set_generator(Generator(4))
        wanted = [ag.random_uniform([2]).numpy().tolist() for _ in range(2)]
        set_generator(Generator(4))
        strategy = MirroredStrategy()
        assert [strategy.run(lambda: ag.random_uniform([2])).numpy().tolist() for _ in range(2)] == wanted
    finally:
        set_generator(before)


def test_contexts() -> None:
    assert not distribute.has_strategy()
    strategy = MirroredStrategy()
    assert strategy.extended is strategy
    assert strategy.num_replicas_in_sync == 1
    with strategy.scope() as entered:
        assert entered is strategy
        assert distribute.has_strategy()
        assert distribute.get_strategy() is strategy
        assert distribute.in_cross_replica_context()
        assert distribute.get_replica_context() is None

    def step(x: float) -> float:
        context = distribute.get_replica_context()
        assert not distribute.in_cross_replica_context()
        assert (context.strategy, context.replica_id_in_sync_group, context.num_replicas_in_sync) == (strategy, 0, 1)

        def merged(given: Strategy, y: float) -> float:
            assert given is strategy
            assert distribute.in_cross_replica_context()
            return y + 1

        assert float(context.all_reduce("SUM", x)) == x
        return context.merge_call(merged, args=(x,))

    assert strategy.run(step, kwargs={"x": 1.0}) == 2.0
    assert strategy.experimental_local_results(3) == (3,)
    assert strategy.experimental_distribute_values_from_function(lambda c: c.num_replicas_in_sync) == 1
    assert present_replicas() is None


@pytest.mark.parametrize("size", SIZES)
def test_datasets_that_end_apart_end_together(size: int, together: Any) -> None:
    def found(group: Group) -> list[list[int]]:
        def make(context: distribute.InputContext) -> Dataset:
            return Dataset.range(17).shard(context.num_input_pipelines, context.input_pipeline_id).batch(2)

        dataset = Strategy(group).distribute_datasets_from_function(make)
        return [batch.numpy().tolist() for batch in dataset]

    parts = results(together(size, found))
    assert len({len(part) for part in parts}) == 1
    assert sorted(x for part in parts for batch in part for x in batch) == list(range(17))


@pytest.mark.parametrize("size", SIZES)
def test_shards_of_17_elements(size: int, together: Any) -> None:
    def found(group: Group) -> list[list[int]]:
        return [batch.numpy().tolist() for batch in distribute.shard(Dataset.range(17).batch(8), group)]

    steps = zip(*results(together(size, found)), strict=True)
    assert [[x for part in step for x in part] for step in steps] == [list(range(8)), list(range(8, 16)), [16]]


CLUSTER = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}
START = "agog's processes are started by a launcher, which tells each its rank: `mpiexec -n 2 python program.py`."


def test_a_cluster_of_the_same_processes_is_taken(together: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps(CLUSTER))

    def accepted(group: Group) -> str:
        try:
            check_cluster("it", group)
        except ValueError as error:
            return str(error)
        return "taken"

    first, second = together(2, accepted)
    assert first == f"it: TF_CONFIG says that this is process 1 of 2, and it is process 0 of 2: {START}"
    assert second == "taken"


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (CLUSTER, f"TF_CONFIG says that this is process 1 of 2, and it is process 0 of 1: {START}"),
        (
            {"cluster": {"worker": ["a"], "ps": ["b"]}},
            "TF_CONFIG has tasks of type 'ps', which agog has not; all train alike.",
        ),
    ],
)
def test_another_cluster_is_refused(config: Any, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with says(ValueError, f"MultiWorkerMirroredStrategy: {text}"):
        distribute.MultiWorkerMirroredStrategy()
    with says(ValueError, f"CollectiveAllReduceStrategy: {text}"):
        distribute.CollectiveAllReduceStrategy()


def test_what_describes_other_processes_is_refused() -> None:
    with says(ValueError, f"MultiWorkerMirroredStrategy: cluster_resolver must be None: {START}"):
        distribute.MultiWorkerMirroredStrategy(object())
    text = (
        "MirroredStrategy: every process is one replica, on one device; got devices ['/gpu:0', '/gpu:1']. Leave them "
        "out, and start as many processes: `mpiexec -n 2 python program.py`."
    )
    with says(ValueError, text):
        MirroredStrategy(["/gpu:0", "/gpu:1"])
    with says(ValueError, "The reduction must be tf.distribute.ReduceOp.SUM or MEAN; got 'MAX'."):
        MirroredStrategy().reduce("MAX", 1.0)
    with says(TypeError, "shard: a Dataset of batches is expected; got [1] of type list."):
        distribute.shard([1])
    with says(ValueError, "The global_batch_size 5 is not divisible by num_replicas_in_sync 2."):
        distribute.InputContext(2, 0, 2).get_per_replica_batch_size(5)


def test_names_of_tensorflow_1() -> None:
    strategy = distribute.CollectiveAllReduceStrategy()
    assert (strategy.num_replicas, strategy.num_towers) == (1, 1)
    results = strategy.call_for_each_replica(lambda x, y: x + y, 1, y=2, run_concurrently=False)
    assert strategy.unwrap(strategy.group(results)) == [3]
    assert [int(x[0]) for x in strategy.distribute_dataset(lambda: Dataset.range(2).batch(1))] == [0, 1]
    assert repr(strategy) == "<CollectiveAllReduceStrategy: replica 0 of 1>"


def test_one_device_is_one_replica_on_it() -> None:
    strategy = distribute.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        v = ag.Variable(1.0)
    assert strategy.num_replicas_in_sync == 1
    assert strategy.run(lambda: v + 1.0).device == v.device
