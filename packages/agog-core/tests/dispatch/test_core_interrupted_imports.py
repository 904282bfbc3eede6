"""Imports that a Ctrl-C interrupts: the next one finds everything as if there had been none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agog_core.dispatch import op as ops
from agog_core.dispatch.op import Op, all_ops, registry
from agog_core.dispatch.plugins import loader as loading
from agog_core.dispatch.plugins.registration import register_plugin
from agog_core.errors import PluginError
from agog_core.plugin import hookimpl

MODULE = """
from pathlib import Path

from agog_core.dispatch.op import Op

def first(x):
    return x

def second(x):
    return x

first_op = Op("toy_first", first, inputs=["x"], shape=abs)
exec(Path(__file__ + ".then").read_text())
second_op = Op("toy_second", second, inputs=["x"], shape=abs)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module of two ops; what is written to its ``.then`` runs between them."""
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "toy_ops.py"
    file.write_text(MODULE)
    yield file.with_suffix(".py.then")
    sys.modules.pop("toy_ops", None)
    for name in ("toy_first", "toy_second"):
        registry.pop(name, None)


def test_a_module_of_ops(module: Path) -> None:
    module.write_text("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        import_module("toy_ops")
    module.write_text("")
    toy_ops = import_module("toy_ops")
    assert registry["toy_first"] is toy_ops.first_op
    assert registry["toy_second"] is toy_ops.second_op


def test_a_name_of_a_whole_module_stays_taken(module: Path) -> None:
    module.write_text("")
    toy_ops = import_module("toy_ops")
    with pytest.raises(ValueError, match=r"^Op 'toy_first' is defined already; choose another name\.$"):
        Op("toy_first", toy_ops.first, inputs=["x"], shape=abs)
    assert registry["toy_first"] is toy_ops.first_op


def test_all_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def load() -> None:
        calls.append("load")
        if len(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(ops, "late_ops", [load])
    with pytest.raises(KeyboardInterrupt):
        all_ops()
    all_ops()
    all_ops()
    assert calls == ["load", "load"]


@pytest.mark.parametrize("interrupted", ["in the hook", "after the plugin"])
def test_plugins_that_make_ops(interrupted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [interrupted]  # what the interrupt comes at, once

    def interrupt(place: str) -> None:
        if place in left:
            left.clear()
            raise KeyboardInterrupt

    def agog_ops() -> Iterator[Op]:
        yield Op("toy_first", abs, inputs=["x"], shape=abs)
        interrupt("in the hook")

    def load_entry_points(found: Any) -> None:
        plugin = found.load("toy", "toy 1.0", lambda: SimpleNamespace(agog_ops=hookimpl(agog_ops)))
        assert plugin.failure is None
        interrupt("after the plugin")

    monkeypatch.setattr(loading, "_loader", None)
    monkeypatch.setattr(loading.PluginLoader, "load_entry_points", load_entry_points)
    try:
        with pytest.raises(KeyboardInterrupt):
            loading.loader()
        assert "toy_first" not in registry
        (plugin,) = loading.loader().plugins
        assert plugin.ops == [registry["toy_first"]]
    finally:
        registry.pop("toy_first", None)


@pytest.mark.parametrize("interrupted", ["in the hook", "after the plugin"])
def test_plugins_that_look_their_ops_up(interrupted: str, module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module.write_text("")
    left = [interrupted]

    def interrupt(place: str) -> None:
        if place in left:
            left.clear()
            raise KeyboardInterrupt

    def agog_ops() -> Iterator[Op]:
        import_module("toy_ops")
        yield registry["toy_first"]
        interrupt("in the hook")
        yield registry["toy_second"]

    def load_entry_points(found: Any) -> None:
        plugin = found.load("toy", "toy 1.0", lambda: SimpleNamespace(agog_ops=hookimpl(agog_ops)))
        assert plugin.failure is None
        interrupt("after the plugin")

    monkeypatch.setattr(loading, "_loader", None)
    monkeypatch.setattr(loading.PluginLoader, "load_entry_points", load_entry_points)
    with pytest.raises(KeyboardInterrupt):
        loading.loader()
    assert "toy_first" not in registry
    (plugin,) = loading.loader().plugins
    toy_ops = import_module("toy_ops")
    assert plugin.ops == [toy_ops.first_op, toy_ops.second_op]
    with pytest.raises(ValueError, match=r"^Op 'toy_first' is defined already; choose another name\.$"):
        Op("toy_first", toy_ops.first, inputs=["x"], shape=abs)


def test_a_plugin_of_the_program_that_looks_its_op_up(module: Path) -> None:
    module.write_text("")
    left = ["interrupt", "fail"]

    def agog_ops() -> Iterator[Op]:
        import_module("toy_ops")
        yield registry["toy_first"]
        if "interrupt" in left:
            left.remove("interrupt")
            raise KeyboardInterrupt
        if "fail" in left:
            left.remove("fail")
            raise RuntimeError("no memory")

    hooks = SimpleNamespace(agog_ops=hookimpl(agog_ops))
    with pytest.raises(KeyboardInterrupt):
        register_plugin(hooks, "toy")
    with pytest.raises(PluginError, match="no memory"):
        register_plugin(hooks, "toy")
    assert "toy_first" not in registry
