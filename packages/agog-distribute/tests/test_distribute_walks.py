"""Walks: buckets that start while a tape walks back, their memory, and what ends a walk early."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_distribute as distribute
from agog_core.errors import AbortedError, FailedPreconditionError, InvalidArgumentError
from agog_distribute import Group
from agog_distribute.gradients import buckets
from agog_distribute.gradients.buckets import Form, Layout, Pool
from agog_distribute.gradients.settings import Settings
from agog_distribute.gradients.transfers import averager_of
from agog_optimizers import AdamOptimizer


def layers(count: int = 6, width: int = 150) -> list[ag.Variable]:
    rng = np.random.default_rng(0)
    return [ag.Variable(rng.normal(size=(width, width)).astype(np.float32) / 12) for _ in range(count)]


def loss_of(variables: list[ag.Variable], x: Any) -> ag.Tensor:
    for variable in variables:
        x = ag.tanh(ag.matmul(x, variable))
    return ag.reduce_sum(x)


@pytest.mark.parametrize("traced", [False, True])
def test_buckets_start_while_the_walk_goes_on(traced: bool, together: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "LEAST", 1 << 16)

    def events(group: Group) -> list[str]:
        variables, found = layers(), []

        @ag.custom_gradient
        def noted(x: ag.Tensor) -> Any:
            def back(g: ag.Tensor) -> ag.Tensor:
                return ag.py_func(lambda g: (found.append("layer"), g)[1], [g], ag.float32)

            return x, back

        def step(x: ag.Tensor) -> list[ag.Tensor]:
            with distribute.DistributedGradientTape(group=group) as tape:
                for variable in variables:
                    x = ag.tanh(ag.matmul(noted(x), variable))
                loss = ag.reduce_sum(x)
            result: list[ag.Tensor] = tape.gradient(loss, variables)
            return result

        run = ag.function(step) if traced else step
        run(ag.ones([2, 150]))
        progress = averager_of(group).progress
        start = progress.start
        progress.start = lambda *job: (found.append("bucket"), start(*job))[1]  # type: ignore[method-assign]
        found.clear()
        run(ag.ones([2, 150]))
        return found

    results = together(2, events)
    for found in results:
        assert isinstance(found, list), results
        assert found.count("layer") == 5, found  # nobody asks for the gradient of the input
        assert found.count("bucket") >= 5
        assert found.index("bucket") <= 2
        assert found.index("layer", found.index("bucket")) > 0  # and the walk goes on


def test_layouts_have_every_element_once_and_no_bucket_above_a_quarter() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        shapes = [tuple(rng.integers(0, 900, rng.integers(0, 3))) for _ in range(rng.integers(1, 12))]
        forms = [Form(rng.choice(["float32", "float64", "bfloat16"]), shape) for shape in shapes]
        layout = Layout(forms)
        covered = {dtype: np.zeros(n, int) for dtype, n in layout.lengths.items()}
        for bucket in layout.buckets:
            covered[bucket.dtype][bucket.start : bucket.stop] += 1
        assert all((count == 1).all() for count in covered.values())
        size = {"float32": 4, "float64": 8, "bfloat16": 2}
        total = sum(size[dtype] * n for dtype, n in layout.lengths.items())
        for bucket in layout.buckets:
            assert size[bucket.dtype] * (bucket.stop - bucket.start) <= max(total / 4, 1 << 20)
        left = list(layout.counts)
        for position in reversed(range(len(forms))):
            for number in layout.buckets_of[position]:
                left[number] -= 1
        assert not any(left)


def test_the_last_gradients_are_in_the_first_bucket() -> None:
    layout = Layout([Form("float32", (1 << 20,)), Form("float32", (3, 4)), Form("float32", (5,))])
    assert [span.start for span in layout.spans] == [17, 5, 0]
    assert layout.buckets[0].start == 0
    assert layout.buckets_of[2] == [0]
    assert layout.buckets_of[0] == list(range(len(layout.buckets)))


def test_memory_is_used_again_once_nobody_has_gradients_in_it() -> None:
    pool = Pool(Layout([Form("float32", (3,)), Form("bfloat16", (2,))]))
    lent = pool.lend()
    first, held = address(lent["float32"]), lent["float32"][1:].reshape(2, 1)[1:]
    del lent
    second = pool.lend()
    assert address(second["float32"]) != first
    del held
    third = pool.lend()
    assert address(third["float32"]) == first
    assert third["bfloat16"].shape == (2,)


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize(
    ("bucket_bytes", "sizes"),
    [
        (None, [1 << 20, 1 << 20, 1 << 20, 1 << 20]),
        (100, [100] * (4 << 20 // 100)),
        (3 << 20, [1 << 20, 3 << 20]),
        (4 << 20, [4 << 20]),
    ],
)
def test_programs_say_how_many_bytes_are_sent_at_once(bucket_bytes: int | None, sizes: list[int]) -> None:
    layout = Layout([Form("float32", (1 << 20,))], bucket_bytes)
    found = [4 * (bucket.stop - bucket.start) for bucket in layout.buckets]
    assert sum(found) == 4 << 20
    assert found[: min(len(sizes), 40)] == sizes[:40]


def test_gradients_are_the_same_whatever_is_sent_at_once(together: Any) -> None:
    def averages(group: Group) -> list[bytes]:
        def average(bucket_bytes: int | None) -> bytes:
            variables = layers(2, 20)
            tape = distribute.DistributedGradientTape(group=group, bucket_bytes=bucket_bytes)
            with tape:
                loss = loss_of(variables, ag.fill([2, 20], group.rank + 1.0))
            found = tape.gradient(loss, variables)
            optimizer = distribute.DistributedOptimizer(
                AdamOptimizer(), group=group, bucket_bytes=bucket_bytes
            ).compute_gradients(lambda: loss_of(variables, ag.fill([2, 20], group.rank + 1.0)), variables)
            assert [g.numpy().tobytes() for g in found] == [g.numpy().tobytes() for g, _ in optimizer]
            return b"".join(g.numpy().tobytes() for g in found)

        return [average(bucket_bytes) for bucket_bytes in (None, 64, 1 << 40)]

    for found in together(2, averages):
        assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("settings", "other", "said"),
    [
        ({"bucket_bytes": 100}, {}, ("mean, bucket_bytes=100", "mean")),
        ({"reduction": "sum"}, {}, ("sum", "mean")),
    ],
)
def test_unlike_arguments_are_an_error_of_all(
    settings: dict[str, Any], other: dict[str, Any], said: tuple[str, str], together: Any
) -> None:
    def average(group: Group) -> Any:
        given = other if group.rank else settings
        return distribute.average_gradients(ag.constant([1.0, 2.0]), group=group, **given)

    for error in together(2, average):
        assert isinstance(error, AbortedError)
        for rank, each in enumerate(said):
            assert f"rank {rank}: average_gradients of 1 gradients, {each}, the " in str(error)


@pytest.mark.parametrize("bucket_bytes", [0, -1, 2.5, "4 MB", True])
def test_other_sizes_are_refused(bucket_bytes: Any) -> None:
    text = f"bucket_bytes must be a positive int, or None for 4 MB and less; got {bucket_bytes!r}."
    for make in (
        lambda: distribute.average_gradients([], bucket_bytes=bucket_bytes),
        lambda: distribute.DistributedGradientTape(bucket_bytes=bucket_bytes),
        lambda: distribute.DistributedOptimizer(AdamOptimizer(), bucket_bytes=bucket_bytes),
    ):
        with pytest.raises(InvalidArgumentError, match=re.escape(text)):
            make()


def test_gradients_of_the_step_before_keep_their_values(together: Any) -> None:
    def kept(group: Group) -> bool:
        variable, seen = ag.Variable([1.0, 2.0]), []
        for factor in (1.0, 2.0, 3.0, 4.0):
            with distribute.DistributedGradientTape(group=group) as tape:
                loss = ag.reduce_sum(variable * factor)
            seen.append(tape.gradient(loss, variable))
        return [g.numpy().tolist() for g in seen] == [[f, f] for f in (1.0, 2.0, 3.0, 4.0)]

    assert together(2, kept) == [True, True]


def test_buffers_take_the_memory_of_the_gradients_once(together: Any) -> None:
    def kept(group: Group) -> tuple[int, int]:
        variables = layers(3)

        def step() -> None:
            with distribute.DistributedGradientTape(group=group) as tape:
                loss = loss_of(variables, ag.ones([2, 150]))
            tape.gradient(loss, variables)

        for _ in range(6):
            step()
        pools = averager_of(group)._pools.values()
        buffers = [buffer for pool in pools for free in pool._free.values() for buffer in free]
        return sum(buffer.nbytes for buffer in buffers), sum(variable.numpy().nbytes for variable in variables)

    for found, wanted in together(2, kept):
        assert found == wanted


def test_programs_that_use_nothing_of_it_load_its_hooks_only() -> None:
    program = (
        "import sys, agog_core as ag; ag.constant(1.0) + 1; "
        "print([name for name in sys.modules if name.startswith('agog_distribute')], 'agog_core.ops.nn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['agog_distribute', 'agog_distribute.hooks'] False\n"


def test_programs_without_averages_load_nothing_of_them() -> None:
    program = (
        "import sys, agog_core as ag, agog_distribute; ag.constant(1.0) + 1; agog_distribute.all_reduce([1.0]); "
        "print([name for name in sys.modules if name.startswith('agog_optimizers') or name.split('.')[-1] in "
        "('averages', 'transfers', 'walks', 'progress', 'tape', 'sharding') and name.startswith('agog_distribute')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_a_walk_that_raises_on_one_rank_ends_all(kind: type[BaseException], together: Any) -> None:
    def gradient(group: Group) -> str:
        variables, fails = layers(4), False

        @ag.custom_gradient
        def failing(x: ag.Tensor) -> Any:
            def back(g: ag.Tensor) -> ag.Tensor:
                if fails:
                    raise kind("in the walk")
                return g

            return x, back

        for turn in range(3):
            fails = group.rank == 1 and turn == 2
            with distribute.DistributedGradientTape(group=group) as tape:
                loss = loss_of(variables, failing(ag.matmul(ag.ones([2, 150]), variables[0])))
            try:
                tape.gradient(loss, variables)
            except kind as error:
                return str(error)
        return "no error"

    def gradient_or_error(group: Group) -> str:
        try:
            return gradient(group)
        except AbortedError as error:
            return str(error)

    first, second = together(2, gradient_or_error)
    assert second == "in the walk"
    assert first.startswith("average_gradients, bucket ")
    assert "rank 1: average_gradients, given up" in first


def test_a_forked_process_is_none_of_the_run() -> None:
    class Alone(distribute.processes.groups.Alone):
        size = 2

    group = Group([0, 1], Alone())
    averager = averager_of(group)
    averager.process += 1
    with pytest.raises(FailedPreconditionError) as failure:
        averager.begin(Settings(group), [Form("float32", (2,))], [None], ("train.py", 1))
    assert str(failure.value) == (
        "average_gradients: this process was forked from one of the run; nothing connects it with the others."
    )


def test_an_engine_for_one_thread_sends_in_that(together: Any) -> None:
    def gradient(group: Group) -> list[float]:
        group.communicator.duplicate = lambda: None  # type: ignore[method-assign]
        variable = ag.Variable([1.0, 2.0])
        for _ in range(3):
            with distribute.DistributedGradientTape(group=group) as tape:
                loss = ag.reduce_sum(variable * float(group.rank))
            found = tape.gradient(loss, variable).numpy().tolist()
        return found

    assert together(2, gradient) == [[0.5, 0.5], [0.5, 0.5]]
