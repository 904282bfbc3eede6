"""Each op's samples, exported one by one: onnxruntime computes what agog does, but for declared exceptions."""

from __future__ import annotations

import re

import pytest
import samples
from exceptions import EXCEPTIONS

from agog_core.dispatch.op import all_ops
from agog_export.rules import REASONS

NAMES = sorted(filter(samples.is_exported, all_ops()))
# Ops that come whole, with those of which the kit has only calls of constants.
LEAST = 150


def matches(pattern: str, outcome: samples.Outcome) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), f"{outcome.dtype} {outcome.name}") is not None


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_what_agog_computes(name: str) -> None:
    found = list(samples.outcomes(name))
    problems = [outcome for outcome in found if outcome.problem is not None]
    if name in REASONS:
        assert {outcome.problem for outcome in found} <= {f"refused: {REASONS[name]}."}
        return
    declared = EXCEPTIONS.get(name, {})
    assert [outcome for outcome in problems if not any(matches(pattern, outcome) for pattern in declared)] == []
    stale = [pattern for pattern in declared if not any(matches(pattern, outcome) for outcome in problems)]
    assert stale == []


def test_most_ops_come_whole() -> None:
    assert set(EXCEPTIONS) | set(REASONS) <= set(all_ops())
    assert len([name for name in NAMES if name not in EXCEPTIONS and name not in REASONS]) >= LEAST
