"""benchmarks/scaling: the model gives what is computed by hand, and what ranks measure is read and reported."""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path
from statistics import NormalDist
from time import perf_counter, sleep
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

import agog as tf
import agog_distribute as distribute

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.scaling import report
from benchmarks.scaling.__main__ import Bytes, main
from benchmarks.scaling.model import Network, Step, cut, fitted, slowest_of
from benchmarks.scaling.simulated import simulated_group

NETWORK = Network(latency=1e-3, bandwidth=1e3)
HAS_MPI = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")


def test_a_ring_sends_twice_all_parts_but_one() -> None:
    # 2 * 3 messages of 1 ms and of 100 bytes, a tenth of a second each.
    assert NETWORK.ring(400, 4) == pytest.approx(6 * (0.001 + 0.1))
    assert NETWORK.ring(400, 1) == 0


def test_buckets_are_sent_one_behind_the_other_while_the_walk_goes_on() -> None:
    step = Step(forward=1, backward=2, update=0.5, size=200)
    # Of 100 bytes each: there at 1 and 2 seconds of the walk; a ring of two takes 2 * (0.001 + 0.05) = 0.102.
    assert step.seconds(2, NETWORK, [100, 100]) == pytest.approx(1 + 2 + 0.102 + 0.5)
    assert step.seconds(2, NETWORK, [100, 100], overlaps=False) == pytest.approx(1 + 2 + 2 * 0.102 + 0.5)
    # Ten times as slow, the second waits for the first: from 1 to 2.002, to 3.004.
    assert step.seconds(2, Network(1e-3, 1e2), [100, 100]) == pytest.approx(1 + 1 + 2 * 1.002 + 0.5)
    assert step.seconds(1, NETWORK, [100, 100]) == 3.5
    # A copy into buckets of 0.5 seconds takes part in the walk, but not of one rank.
    copied = Step(forward=1, backward=2, update=0.5, size=200, copy=0.5)
    assert copied.seconds(2, NETWORK, [100, 100]) == pytest.approx(1 + 2.5 + 0.102 + 0.5)
    assert copied.seconds(1, NETWORK, [100, 100]) == 3.5
    assert step.efficiency(2, NETWORK, [100, 100]) == pytest.approx(3.5 / 3.602)
    # A large gradient is there at 1.8 seconds: its two buckets are sent when the last one begins, at 2.
    late = Step(forward=1, backward=2, update=0.5, size=200, ready=[(180, 0.9), (200, 1.0)])
    assert late.seconds(2, NETWORK, [100, 80, 20]) == pytest.approx(1 + 2 + 0.022 + 0.5)


def test_the_slower_of_two_has_a_closed_form() -> None:
    # E max(X, Y) = E X + E |X - Y| / 2 = 2 * Phi(spread / sqrt(2)) for lognormal times of mean 1.
    for spread in (0.01, 0.1, 0.5):
        assert slowest_of(2, spread) == pytest.approx(2 * NormalDist().cdf(spread / math.sqrt(2)), rel=1e-3)
    assert slowest_of(1, 0.5) == slowest_of(8, 0.0) == 1.0


def test_the_slowest_of_many_is_that_of_drawn_times() -> None:
    drawn = np.random.default_rng(1).lognormal(-0.02, 0.2, (4000, 1024)).max(1)
    # Four standard errors of the drawn mean, and the integral's own error.
    assert slowest_of(1024, 0.2) == pytest.approx(drawn.mean(), abs=4 * drawn.std() / math.sqrt(4000) + 2e-3)


def test_all_bytes_are_in_buckets() -> None:
    assert cut(10, 4, 1) == [1, 4, 4, 1]
    assert cut(3, 8, 4) == [3]
    assert cut(8, 8, 8) == [8]


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_fit_finds_the_network_again(ranks: int) -> None:
    known = Network(30e-6, 2e9)
    found = fitted([(size, known.ring(size, ranks)) for size in (4, 4096, 1 << 20, 100 << 20)], ranks)
    assert found.latency == pytest.approx(known.latency)
    assert found.bandwidth == pytest.approx(known.bandwidth)


def test_sizes_have_units() -> None:
    given = ("4B", "64 KB", "16MB", "all", 7)
    assert [Bytes().convert(value, None, None) for value in given] == [4, 65536, 16 << 20, 1 << 40, 7]
    with pytest.raises(click.BadParameter) as failure:
        Bytes().convert("4 GB", None, None)
    assert failure.value.message == "'4 GB' is no number of bytes, such as 4B, 64KB, 16MB, or all."


def test_the_model_predicts_the_averages_over_a_simulated_network() -> None:
    # A sleep stands for the walk, so that a busy machine changes little: 40 gradients of 256 KB in 0.2 s, buckets of
    # 1 MB, of which a ring of 4 takes 18 ms each.
    count, size, backward, network = 40, 256 << 10, 0.2, Network(1e-4, 1e8)
    group = simulated_group(4, network)
    variables = [tf.Variable(tf.zeros([size // 4])) for _ in range(count)]
    gradients = [tf.ones([size // 4]) for _ in range(count)]

    class Walk(tf.GradientTape):
        def pull_back(self, targets: Any, sources: Any, seeds: Any, tell: Any = None) -> Any:
            for position in reversed(range(count)):
                sleep(backward / count)
                if tell is not None:
                    tell(position, gradients[position])
            return gradients

    class Averaged(distribute.DistributedGradientTape, Walk):
        pass

    def seconds(overlaps: bool) -> float:
        tape = Averaged(group=group, bucket_bytes=1 << 20) if overlaps else Walk()
        start = perf_counter()
        found = tape.pull_back([], variables, None)
        if not overlaps:
            distribute.average_gradients(found, variables, group=group, bucket_bytes=1 << 20)
        return perf_counter() - start

    seconds(True)  # finds that the gradients are dense
    times = {overlaps: min(seconds(overlaps) for _ in range(3)) for overlaps in (True, False)}
    step = Step(forward=0, backward=backward, update=0, size=count * size)
    for overlaps, found in times.items():
        predicted = step.seconds(4, network, cut(step.size, 1 << 20, 1 << 20), overlaps)
        assert predicted <= found <= 1.25 * predicted, (overlaps, predicted, found)
    alone = step.seconds(4, network, cut(step.size, 1 << 20, 1 << 20), False) - backward
    assert (times[False] - times[True]) / alone > 0.5


RESULTS: dict[str, Any] = {
    "machine": {"date": "2026-11-28", "processor": "a processor", "cores": 2},
    "ranks": {
        "1": {
            "all_reduce": [{"bytes": 4, "agog": 0.002, "mpi4py": 0.001}],
            "parts": {"forward": 1.0, "backward": 2.0, "update": 0.5, "size": 8 << 20, "spread": 0.0, "copy": 0.0},
            "wrapper": {"plain": 1.0, "wrapped": 1.01, "plain_fifth": 2.0, "wrapped_fifth": 2.04},
        },
        "2": {
            "all_reduce": [{"bytes": size, "agog": 0.002 + size * 1e-9, "mpi4py": 0.001} for size in (1000, 1 << 20)],
            "steps": [{"bytes": 8 << 20, "step": 3.75, "plain": 3.5, "alone": 1.0, "wait": 0.125}],
        },
    },
}


def test_what_is_measured_and_computed_is_told() -> None:
    computed = report.computed(RESULTS, Network(0.0, 1e6))
    told = report.tables({**RESULTS, "computed": computed})
    assert "| 4 B | 2 | 1 | 0.50 |" in told
    assert "1.010 (least), 1.020 (mean of the fastest fifth)" in told
    # A ring of two is fitted by 1 ms and 1 GB/s: 8 MB in one bucket take 2 ms and 8.4 ms behind the walk.
    assert "| 8 MB | 3.75e+03 | 3.5e+03 | 1e+03 | 125 | 75% | 3.51e+03 | 3.51e+03 |" in told
    # Two ranks at 1 MB/s send 8 MB in 8.4 s. The first MB is there at 0.25 s of the walk, and then one follows another.
    alike = computed["efficiency"]["4 MB, no stragglers"]
    assert alike["1"] == 1.0
    assert alike["2"] == pytest.approx(3.5 / (1.5 + 0.25 + 8 * 1.048576), rel=1e-2)


@pytest.mark.skipif(HAS_MPI is None, reason="there is no mpiexec here: install mpich, openmpi or another MPI")
def test_ranks_measure_what_is_reported_and_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results, picture = tmp_path / "results.json", tmp_path / "scaling.svg"
    sizes = [*("--ranks", "1", "--ranks", "2", "--case", "mlp", "--size", "4B", "--size", "4KB"), "--bucket", "all"]
    done = CliRunner().invoke(main, [*sizes, "--rounds", "1", "--results", str(results), "--picture", str(picture)])
    assert done.exit_code == 0, done.output
    found = json.loads(results.read_text())
    row = found["ranks"]["2"]["steps"][0]
    assert row["bytes"] == 4 * (784 * 256 + 256 + 256 * 256 + 256 + 256 * 10 + 10)
    assert 0 < row["wait"] < row["step"]
    assert [row["bytes"] for row in found["ranks"]["2"]["all_reduce"]] == [4, 4096]
    (over_network,) = found["ranks"]["1"]["simulated"]["steps"]
    assert 0 < over_network["plain"] < over_network["behind"]
    assert "A step of one of 8 simulated ranks, at 10 Gbit/s and 50 us:" in done.output
    assert "A step, 2 ranks, in ms:" in done.output
    assert picture.read_text().count("<svg") == 1
