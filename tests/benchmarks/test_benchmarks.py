"""The programs of benchmarks/ run, give the same numbers traced, and are reported as they were measured."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import neighbours, report, turns
from benchmarks.cases import CASES
from benchmarks.frameworks import NAMES, framework
from benchmarks.kinds import Gradient, Repeated

# Their programs take a second or more, for sizes or for processes that start.
LARGE = ("mlp_big", "data_batch", "data_example", "data_python")


@pytest.mark.parametrize("name", sorted(set(CASES) - set(LARGE)))
def test_a_program_gives_the_same_numbers_traced(name: str) -> None:
    values = []
    for way in ("agog", "agog, traced"):
        chosen = framework(way, 1)
        np.random.seed(1)
        values.append(chosen.number(CASES[name].program(chosen)()))
    assert np.isfinite(values[0])
    if CASES[name].is_comparable:
        assert values[0] == values[1]


def test_an_epoch_counts_its_examples() -> None:
    chosen = framework("agog", 1)
    assert chosen.number(CASES["data_batch"].program(chosen)()) == 60_000


def test_each_case_says_what_it_is_and_has_a_name_of_its_own() -> None:
    assert all((type(case).__doc__ or "").endswith(".") for case in CASES.values())
    assert list(CASES)[:3] == ["add", "add_recorded", "matmul"]


class Cube(Gradient):
    """A cube and its gradient."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return (np.array([1.0, 2.0, 3.0], np.float32),)

    def agog(self, tf: Any, x: Any) -> Any:
        return x * x * x


def test_gradients_come_with_the_result_and_are_weighted_by_a_line_from_minus_one_to_one() -> None:
    chosen = framework("agog", 1)
    assert chosen.number(Cube().program(chosen)()) == (1 + 8 + 27) + 3 * (1 * 1 + 0 * 4 + 1 * 9)


def test_a_missing_program_is_named() -> None:
    class Alone(Repeated):
        """It has no formula."""

        def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
            return ()

    with pytest.raises(LookupError) as failure:
        Alone().program(framework("agog", 1))
    assert str(failure.value) == "alone has no program for agog"


class Clock:
    """A worker whose calls take known times."""

    def __init__(self, name: str, seconds: float) -> None:
        self.name, self.seconds = name, seconds

    def ask(self, question: str, argument: Any) -> Any:
        if question == "first":
            if not self.seconds:
                raise LookupError("add has no program for it")
            return 1.5, 0.25
        return argument * self.seconds


def test_times_are_those_of_a_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "WARM", 0.0)
    taken, without = turns.times(CASES["add"], [Clock("agog", 0.5), Clock("jax.jit", 0)], seconds=0)  # type: ignore[list-item]
    assert taken["agog"].bursts == [0.005] * 3
    assert (taken["agog"].value, taken["agog"].first, taken["agog"].least) == (1.5, 0.25, 0.005)
    assert without == {"jax.jit": "add has no program for it"}


class Beside:
    """A worker that is slower while others are at work."""

    name = "agog"

    def __init__(self, others: list[str]) -> None:
        self.others = others

    def ask(self, question: str, argument: Any) -> Any:
        return (1.5, 0.25) if question == "first" else argument * (0.03 if self.others[-1:] == ["busy"] else 0.02)


def test_neighbours_are_at_work_in_every_second_burst(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    monkeypatch.setattr(neighbours, "WARM", 0.0)
    monkeypatch.setattr(neighbours, "start", lambda busy: log.append("busy"))
    monkeypatch.setattr(neighbours, "stop", lambda busy: log.append("quiet"))
    found = neighbours.compared(CASES["add"], Beside(log), (), rounds=3)  # type: ignore[arg-type]
    assert log == ["quiet", *["busy", "quiet"] * 3]
    assert found.quiet == [0.0002] * 3
    assert found.beside == [pytest.approx(0.0003)] * 3
    assert found.ratio == pytest.approx(1.5)


def test_eager_is_compared_with_eager_and_traced_with_all() -> None:
    row = {"agog": 3.0, "agog, traced": 1.0, "torch": 2.0, "jax.jit": 0.5}
    assert [report.ratio(row, name) for name in NAMES] == [1.5, 2.0, None, None, None]
    assert report.ratio({"agog": 1.0, "jax.jit": 1.0}, "agog") is None


def test_the_table_has_times_and_ratios() -> None:
    facts = {"date": "2026-01-02", "processor": "Some (family 6, model 1)", "cores": 2, "blas": "openblas 1 (X)"}
    facts |= {"python": "3.12.0", "versions": {"agog": "0.1.0"}}
    times = {"1": {"add": {"agog": 1e-6, "torch": 2e-6}}, "2": {"add": {"agog": 3e-6, "torch": 2e-6}}}
    assert report.table({"machine": facts, "times": times}) == (
        "2026-01-02: Some (family 6, model 1), 2 cores, openblas 1 (X), Python 3.12.0, agog 0.1.0.\n"
        "\n1 thread:\n\n| case | agog | torch |\n|---|---|---|\n| add | 1 (0.50) | 2 |\n"
        "\n2 threads:\n\n| case | agog | torch |\n|---|---|---|\n| add | 3 (**1.50**) | 2 |\n"
    )
