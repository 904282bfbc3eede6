"""What has come of tests whose process ended."""

from __future__ import annotations

from agog_testing.conformance.cases import Outcome
from agog_testing.conformance.results import Results
from agog_testing.conformance.work import Begun, Ended, Planned
from agog_testing.conformance.workers import Died

TESTS = [
    Planned("exp/int8/value", "exp", None),
    Planned("exp/int8/state", "exp", None),
    Planned("exp#2/int8/value", "exp", "guesses"),
    Planned("sin/int8/value", "sin", None),
]
DIED = Died("its process ended with exit code 3")


def outcomes(results: Results) -> dict[str, Outcome]:
    return {test.id: outcome for test, outcome in results.outcomes}


def test_process_ends_in_a_test() -> None:
    results = Results(TESTS)
    assert results.ops == ["exp", "sin"]
    assert results.add("exp", Begun("exp/int8/value")) == []
    assert len(results.add("exp", DIED)) == 3
    assert outcomes(results) == {
        "exp/int8/value": Outcome("failed", DIED.text),
        "exp/int8/state": Outcome("not run", "exp/int8/value ended the process"),
        "exp#2/int8/value": Outcome("xfailed", "guesses"),
    }


def test_process_ends_before_the_first_test() -> None:
    results = Results(TESTS)
    results.add("sin", DIED)
    assert outcomes(results) == {"sin/int8/value": Outcome("failed", DIED.text)}


def test_process_ends_after_the_last_test() -> None:
    """A kernel may do harm that shows later only."""
    results = Results(TESTS)
    results.add("sin", Begun("sin/int8/value"))
    results.add("sin", Ended("sin/int8/value", Outcome("passed"), 0.5))
    results.add("sin", DIED)
    assert outcomes(results) == {"sin/int8/value": Outcome("failed", f"after the test, {DIED.text}")}


def test_results_are_reported_in_order() -> None:
    results = Results(TESTS)
    results.add("sin", Ended("sin/int8/value", Outcome("passed"), 0.5))
    assert list(results.reportable()) == []
    results.add("exp", DIED)
    assert [ended.id for ended in results.reportable()] == [test.id for test in TESTS]
    assert list(results.unreported()) == []


def test_results_that_are_incomplete_are_reported_at_the_end() -> None:
    results = Results(TESTS)
    ended = Ended("exp/int8/state", Outcome("passed"), 0.5)
    results.add("exp", ended)
    assert list(results.reportable()) == []
    assert list(results.unreported()) == [ended]
