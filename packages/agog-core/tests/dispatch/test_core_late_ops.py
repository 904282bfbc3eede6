"""Late ops: those of a plugin that has only named them are imported by a program that uses them, and by reports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import agog_core as ag
from agog_core.dispatch.op import all_ops, registry
from agog_core.dispatch.plugins.loader import loader
from agog_core.errors import PluginError, PluginWarning
from agog_core.plugin import Kernel, LateOps, hookimpl
from agog_testing import says

MODULE = """
from agog_core.plugin import Op, call, convert_to_tensor

def ripple(x):
    return call(op, convert_to_tensor(x))

op = Op("waves_ripple", ripple, inputs=["x"], shape=lambda x: x)
OPS = (op,)
"""

Register = Callable[..., None]


@pytest.fixture
def waves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Register]:
    """Registers a plugin "waves" whose module of ops has some content."""

    def register(content: str = MODULE, name: str = "waves", **settings: Any) -> None:
        (tmp_path / "waves_ops.py").write_text(content)
        late = LateOps(**{"names": ("waves_ripple",), "ops": "waves_ops:OPS"} | settings)
        kernel = Kernel(op="waves_ripple", device="cpu", fn=lambda x: x + 1)
        hooks = {"agog_ops": lambda: [late], "agog_kernels": lambda: [kernel]}
        ag.register_plugin(SimpleNamespace(**{hook: hookimpl(each) for hook, each in hooks.items()}), name)

    monkeypatch.syspath_prepend(tmp_path)
    yield register
    sys.modules.pop("waves_ops", None)
    for name in {"waves", "wide-waves"} & {plugin.name for plugin in loader().plugins}:
        ag.unregister_plugin(name)
    assert "waves_ripple" not in registry


def test_ops_that_are_named_wait_for_the_program(waves: Register) -> None:
    waves()
    ag.constant(1.0) + 1.0
    assert "waves_ops" not in sys.modules
    assert "waves_ripple" not in registry
    assert float(import_module("waves_ops").ripple(1.0)) == 2.0
    assert registry["waves_ripple"] is all_ops()["waves_ripple"] is import_module("waves_ops").op


def test_reports_find_ops_that_are_named(waves: Register) -> None:
    waves()
    assert "waves_ripple" in all_ops()
    assert "waves_ripple on device 'cpu' with dtype float32:" in ag.explain("waves_ripple")


def test_ops_that_are_named_go_with_their_plugin(waves: Register) -> None:
    waves()
    ag.unregister_plugin("waves")
    assert "waves_ripple" not in all_ops()
    assert "waves_ops" not in sys.modules
    for _ in range(2):  # the second time the module is there
        waves()
        assert "waves_ripple" in all_ops()
        ag.unregister_plugin("waves")
        assert "waves_ripple" not in all_ops()


def test_ops_that_the_program_has_imported_before(waves: Register, tmp_path: Path) -> None:
    (tmp_path / "waves_ops.py").write_text(MODULE)
    op = import_module("waves_ops").op
    waves()
    assert registry["waves_ripple"] is op
    assert float(op.function(1.0)) == 2.0


def test_dashes_of_a_plugins_name_are_underscores(waves: Register) -> None:
    waves(MODULE.replace("waves_ripple", "wide_waves_ripple"), "wide-waves", names=("wide_waves_ripple",))
    assert "wide_waves_ripple" in all_ops()


def test_names_that_others_could_have_are_refused(waves: Register) -> None:
    text = "register_plugin('waves'): LateOps names the op 'ripple'; its name must begin with 'waves_'."
    with says(PluginError, text):
        waves(names=("ripple",))


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"names": "waves_ripple"}, "LateOps: names must be a tuple of the names of ops; got 'waves_ripple'."),
        (
            {"ops": "waves_ops"},
            "LateOps: ops must be a 'module:attribute' string, which is imported when the ops are needed; got "
            "'waves_ops'.",
        ),
    ],
)
def test_odd_fields(settings: dict[str, Any], text: str, waves: Register) -> None:
    with says(TypeError, text):
        waves(**settings)


BROKEN = {
    "raise OSError('no driver')": "waves_ops:OPS could not be loaded: OSError: no driver",
    "": "waves_ops:OPS could not be loaded: AttributeError: module 'waves_ops' has no attribute 'OPS'",
    f"{MODULE}OPS = op": "waves_ops:OPS must be a tuple or list of Op; it is <Op waves_ripple(x)>.",
    f"{MODULE}OPS = ()": "waves_ops:OPS must be the ops that LateOps names, waves_ripple; it has none.",
}


@pytest.mark.parametrize("content", BROKEN)
def test_ops_that_cannot_be_imported_leave_all_others(content: str, waves: Register) -> None:
    waves(content)
    with pytest.warns(PluginWarning) as given:
        assert "square" in all_ops()
    head = "agog plugin 'waves' (registered by the program): its ops are left out: "
    assert [str(each.message) for each in given] == [head + BROKEN[content]]
    registry.pop("waves_ripple", None)  # what the module has made before it failed


def test_a_strict_program_stops_at_ops_that_cannot_be_imported(
    waves: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    waves("raise OSError('no driver')")
    monkeypatch.setattr(loader(), "strict", True)
    text = (
        "agog plugin 'waves' (registered by the program): its ops are left out: waves_ops:OPS could not be loaded: "
        "OSError: no driver"
    )
    with says(PluginError, text):
        all_ops()
