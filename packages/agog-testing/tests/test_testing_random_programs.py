"""Random programs: they are the same for a number, run eagerly without faults of their own, and faults are found."""

from __future__ import annotations

from collections import Counter

import pytest

from agog_core.tracing.tapes import first_call
from agog_testing.random_programs import __main__ as command
from agog_testing.random_programs import check_program, comparison, difference_of, source_of
from agog_testing.random_programs.comparison import outcome
from agog_testing.random_programs.shrinking import reduced

HEAD = "import agog_core as tf\nfrom agog_testing.random_programs.runtime import data\n"
STALE = f"""{HEAD}
def program(see):
    numbers = []

    @tf.function
    def f(x):
        y = tf.tanh(x)
        numbers.append(1.0)
        z = tf.sin(y) + len(numbers)
        return y, z * 2.0

    for number in range(3):
        with see.call():
            x = data(number, [2])
            w = data(number, [3])
            see(tf.reduce_sum(w))
            see(*f(x))
"""


def test_a_number_is_a_program() -> None:
    assert source_of(5) == source_of(5)
    assert len({source_of(number, large) for number in range(20) for large in (False, True)}) == 40


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("large", [False, True])
def test_programs_run_eagerly(large: bool) -> None:
    """Most calls raise nothing, and what they raise are no faults of the programs themselves."""
    seen = [each for number in range(20) for each in outcome(source_of(number, large), run_eagerly=True)]
    kinds = Counter(kind for kind, _, _ in seen)
    assert kinds["random"] >= 120  # once for each call
    # Other programs are drawn where layers and optimizers are not installed: a third of their calls raises something.
    assert kinds["error"] < 0.4 * kinds["random"]
    errors = {value[0] for kind, _, value in seen if kind == "error"}
    assert not errors & {"NameError", "UnboundLocalError", "SyntaxError", "AttributeError", "IndexError"}


def test_what_is_stale_is_found_and_shortened() -> None:
    found = difference_of(STALE)
    assert found is not None
    assert found.kind == "value"
    assert "see(*f(x))" in found.text
    shorter, again = reduced(STALE, found)
    assert again.kind == "value"
    assert "reduce_sum" not in shorter
    assert "tanh" not in shorter
    assert "numbers" in shorter
    assert difference_of(shorter) is not None


def test_a_second_tape_that_is_not_told_what_to_watch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault in the walk back of a traced call: what a tape opened after it watches has no role there."""
    sources = [source for number in range(150) if "as other:" in (source := source_of(number))]
    assert [difference_of(source) for source in sources[:3]] == [None] * 3
    nothing = property(lambda taping: [[] for _ in taping.tapes], lambda taping, watched: None)
    monkeypatch.setattr(first_call._Taping, "_watched_before", nothing, raising=False)
    found = next((found for source in sources if (found := difference_of(source)) is not None), None)
    assert found is not None
    assert found.kind in ("form", "error", "value")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("return x if len(calls) > 1 else None", "form"),
        ("return tf.cast(x, 'float64') if len(calls) > 1 else x", "form"),
        ("return tf.cholesky(x) if len(calls) > 1 else x", "error"),
        ("return tf.random_normal([2]) if len(calls) > 1 else x", "value"),
        ("return x + 0.0 * sum(tf.random_normal([2]) for _ in calls)", "random"),
        ("v.assign(x * len(calls))", "state"),
    ],
)
def test_kinds_of_differences(body: str, kind: str) -> None:
    source = f"""{HEAD}
def program(see):
    calls, v = [], tf.Variable([0.0, 0.0])
    see.keeps(v, host=[])

    @tf.function
    def f(x):
        calls.append(1)
        {body}

    for _ in range(3):
        with see.call():
            see(f(data(1, [2])))
"""
    found = difference_of(source)
    assert found is not None
    assert found.kind == kind


def test_a_limit_ends_a_program() -> None:
    source = f"""{HEAD}
def program(see):
    with see.call():
        see(tf.function(lambda x: x * float(x))(tf.constant(2.0)))
"""
    found = difference_of(source)
    assert found is not None
    assert (found.kind, "is read while the function is traced" in found.text) == ("limit", True)


def test_a_failure_says_how_to_run_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "source_of", lambda number, large: STALE)
    with pytest.raises(AssertionError, match=r"program 7 --large; run it with(.|\n)*another value(.|\n)*def program"):
        check_program(7, large=True, seconds=5.0)


def test_the_command_prints_a_program(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"{HEAD}\ndef program(see):\n    with see.call():\n        see(tf.function(tf.tanh)(tf.constant(1.0)))\n"
    monkeypatch.setattr(command, "source_of", lambda number, large: source)
    for by in ("compilers", "numpy", "portable"):
        monkeypatch.setattr("sys.argv", ["programs", "3", "--by", by])
        assert command.main() == 0
        out = capsys.readouterr().out
        assert source in out
        assert "{'equal': 1}" in out
    monkeypatch.setattr(command, "source_of", lambda number, large: STALE)
    monkeypatch.setattr("sys.argv", ["programs", "3", "--count", "2", "--reduce", "5", "--quiet"])
    assert command.main() == 1
    assert "program 3 by compilers: value: line" in capsys.readouterr().out
