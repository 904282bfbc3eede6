"""Which processes compute together, and which shares of arrays they hold."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any

import pytest

import agog_core as ag
from agog_core import processes
from agog_core.processes import Share, acting_as, connect, connected, keep_share, share_of


def test_a_block_may_act_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_run", processes._Run())
    some: Any = SimpleNamespace(rank=0, size=2)
    assert connected() is None
    connect(some)
    assert connected() is some
    with acting_as(None):
        assert connected() is None
    with acting_as(some):
        assert connected() is some
    assert connected() is some


def test_shares_are_noted_by_variable_and_go_with_it() -> None:
    variable, other = ag.Variable([1.0, 2.0]), ag.Variable([1.0, 2.0])
    keep_share(variable, Share(2, 4, (2, 3)))
    assert share_of(variable) == Share(2, 4, (2, 3))
    assert share_of(other) is None
    assert not Share(2, 4, (2, 3)).is_whole
    assert Share(0, 6, (2, 3)).is_whole
    before = len(processes._shares)
    del variable
    gc.collect()
    assert len(processes._shares) == before - 1
