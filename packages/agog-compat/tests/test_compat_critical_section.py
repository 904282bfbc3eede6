"""Critical sections, and rates."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

import agog_core as ag
from agog_compat.critical_section import CriticalSection
from agog_compat.rate import Rate
from agog_testing import says


def test_no_two_threads_are_in_a_section() -> None:
    sections = [CriticalSection(shared_name="one"), CriticalSection(shared_name="one")]
    inside: list[int] = []
    most: list[int] = []

    def work(number: int, step: int = 1) -> int:
        inside.append(number)
        most.append(len(inside))
        inside.remove(number)
        return number + step

    results: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: results.append(sections[n % 2].execute(work, n, step=2, name="x")))
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sorted(results), max(most)) == (list(range(2, 22)), 1)


def test_errors() -> None:
    section = CriticalSection("s")
    with says(
        ValueError,
        "CriticalSection 's': execute was called in a function that runs in the section already, and would wait for "
        "itself; call the inner function as it is.",
    ):
        section.execute(lambda: section.execute(lambda: 1))
    assert section.execute(lambda: 2) == 2
    with says(TypeError, "CriticalSection 's': fn must be a function; got 3."):
        section.execute(3)  # type: ignore[arg-type]


def test_rates() -> None:
    rate = Rate("speed")
    assert rate.variables == []
    told: list[Any] = [([1.0, 2.0], [1]), ([5.0, 2.0], [3]), ([9.0, 9.0], [3])]
    found = [rate(ag.constant(values), denominator=ag.constant(times)).numpy().tolist() for values, times in told]
    assert found == [[1.0, 2.0], [2.0, 0.0], [0.0, 0.0]]
    assert [v.numpy().dtype for v in rate.variables] == [np.float64] * 4
