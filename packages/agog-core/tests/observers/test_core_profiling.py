"""The profiler: what it counts, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import numpy as np

import agog_core as ag
from agog_core.plugin import Kernel, hookimpl


def test_rows() -> None:
    x = ag.constant([[1.0, 2.0], [3.0, 4.0]])
    with ag.profile() as seen:
        for _ in range(3):
            ag.matmul(x, x)
        ag.exp(x)
    ag.exp(x)
    rows = {row.op: row for row in seen.ops}
    assert set(rows) == {"matmul", "exp"}
    assert (rows["matmul"].count, rows["matmul"].bytes) == (3, 3 * 16)
    assert (rows["exp"].count, rows["exp"].bytes) == (1, 16)
    assert all(row.seconds > 0 for row in seen.ops)
    assert seen.ops == sorted(seen.ops, key=lambda row: -row.seconds)
    assert seen.copies == 0


def test_updates_of_variables_count_what_they_write() -> None:
    v = ag.Variable([1.0, 2.0, 3.0])
    with ag.profile() as seen:
        v.assign_add([1.0, 1.0, 1.0])
    assert [(row.op, row.bytes) for row in seen.ops if row.op == "apply_add"] == [("apply_add", 12)]


def test_table() -> None:
    x = ag.constant([1.0, 2.0])
    with ag.profile() as seen:
        ag.exp(x)
    header, row, total = str(seen).split("\n")
    assert header.split() == ["op", "device", "count", "ms", "bytes", "plugin", "kernel"]
    cells = row.split()
    assert cells[0] == "exp"
    assert cells[2] == "1"
    assert cells[4] == "8"
    assert total.startswith("1 kernel calls, 0 copies, ")


def test_nested_profiles_both_see_everything() -> None:
    x = ag.constant(1.0)
    with ag.profile() as outer:
        ag.exp(x)
        with ag.profile() as inner:
            ag.sin(x)
    assert {row.op for row in outer.ops} == {"exp", "sin"}
    assert {row.op for row in inner.ops} == {"sin"}


def test_chrome_trace(tmp_path: Path) -> None:
    x = ag.constant([1.0, 2.0])
    with ag.profile() as seen:
        ag.exp(x)
        ag.sin(x)
    seen.save_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == ["exp", "sin"]
    assert all(event["ph"] == "X" and event["dur"] > 0 for event in events)
    assert events[0]["ts"] == 0
    assert events[1]["ts"] >= events[0]["dur"]
    assert events[0]["args"]["bytes"] == 8


def test_empty_profile(tmp_path: Path) -> None:
    with ag.profile() as seen:
        pass
    seen.save_chrome_trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"] == []
    assert str(seen).split("\n")[1] == "0 kernel calls, 0 copies, 0.000 ms in them"


def test_time_by_plugin() -> None:
    x = ag.constant([1.0, 2.0])
    stranger = ModuleType("stranger")
    stranger.agog_kernels = hookimpl(  # type: ignore[attr-defined]
        lambda: [Kernel(op="sin", device="cpu", fn=np.sin, priority=500)], specname="agog_kernels"
    )
    ag.register_plugin(stranger, "stranger")
    try:
        with ag.profile() as seen:
            for _ in range(3):
                ag.exp(x)
            ag.sin(x)
    finally:
        ag.unregister_plugin("stranger")
    spent = {row.op: row.seconds for row in seen.ops}
    assert seen.plugins == {"cpu-numpy": spent["exp"], "stranger": spent["sin"]}
    assert list(seen.plugins.values()) == sorted(seen.plugins.values(), reverse=True)
    shares = ", ".join(f"{name} {seconds * 1e3:.3f} ms" for name, seconds in seen.plugins.items())
    assert str(seen).endswith(f" ms in them: {shares}")
