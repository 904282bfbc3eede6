"""A device type that two plugins bring: host memory stays, and of others the user chooses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.plugins.loader import loader
from agog_core.dispatch.reports import diagnosis
from agog_core.errors import PluginError
from agog_core.plugin import Backend, Kernel, hookimpl
from agog_testing import says

CONTEST = (
    "2 plugins bring the device type 'twin': plugin 'one' (registered by the program) and plugin 'two' (registered by "
    "the program). Choose one: agog.prefer('one'), or AGOG_PREFER=one in the environment; or uninstall the others."
)


def twin(name: str) -> Any:
    """A plugin with the device "twin", whose arrays are of a type of its own, and a kernel for it."""

    class Array:
        def __init__(self, memory: Any) -> None:
            self.memory = np.asarray(memory)
            self.shape, self.dtype = self.memory.shape, self.memory.dtype

    def square(x: Any) -> Any:
        assert type(x) is Array
        return Array(x.memory * x.memory)

    Array.__qualname__ = Array.__name__ = f"ArrayOf{name.capitalize()}"
    backend = Backend(
        device="twin",
        array_type=Array,
        device_count=lambda: 1,
        from_host=lambda host, index: Array(host),
        to_host=lambda array: array.memory,
        allocate=lambda shape, dtype, index: Array(np.empty(shape, dtype)),
        copy=lambda array: Array(array.memory.copy()),
        synchronize=lambda index: None,
        memory_in_use=lambda index: None,
    )
    kernel = Kernel(op="square", device="twin", fn=square)
    return SimpleNamespace(agog_backends=hookimpl(lambda: [backend]), agog_kernels=hookimpl(lambda: [kernel]))


@pytest.fixture
def _twins() -> Iterator[None]:
    before = ag.prefer()
    for name in ("one", "two"):
        ag.register_plugin(twin(name), name)
    yield
    ag.prefer()
    for name in ("one", "two"):
        if any(plugin.name == name for plugin in loader().plugins):
            ag.unregister_plugin(name)
    ag.prefer(*before)


def answer() -> str:
    """Whose arrays the device's are; its kernel has to be of the same plugin."""
    with ag.device("twin:0"):
        y = ag.square(ag.constant([3.0]))
    assert float(y.numpy()[0]) == 9.0
    return type(y._array).__name__


@pytest.mark.usefixtures("_twins")
def test_its_first_use_is_an_error_until_one_is_preferred() -> None:
    for _ in range(2):
        with says(PluginError, CONTEST):
            answer()
    with says(PluginError, CONTEST), ag.fallback("twin"):
        pass
    assert ag.count_devices("twin") == 0
    assert not any("TWIN" in name for name in ag.list_devices())
    assert CONTEST in diagnosis.problems()
    assert float(ag.square(3.0)) == 9.0  # elsewhere nothing has changed


@pytest.mark.usefixtures("_twins")
def test_the_preferred_one_serves_it_with_its_own_kernels() -> None:
    ag.prefer("two")
    assert answer() == "ArrayOfTwo"
    assert ag.explain("square", "twin") == (
        "square on device 'twin' with dtype float32:\n"
        "  chosen: plugin 'two' (registered by the program), priority 100, every dtype (preferred)\n"
        "  rejected: plugin 'one' (registered by the program), priority 100, every dtype: for its plugin's own device "
        "type 'twin', which is not the one in use"
    )
    ag.prefer("one", "two")
    assert answer() == "ArrayOfOne"
    assert ag.count_devices("twin") == 1
    assert CONTEST not in diagnosis.problems()
    ag.prefer()
    with pytest.raises(PluginError):
        answer()


@pytest.mark.usefixtures("_twins")
def test_it_is_decided_when_one_leaves() -> None:
    ag.unregister_plugin("one")
    assert answer() == "ArrayOfTwo"


# --- plugins that are installed -----------------------------------------------------------------------------------

RIVAL = """
from agog_core.plugin import Backend, Kernel, hookimpl
import numpy as np

def copy(array): return np.array(array)

@hookimpl
def agog_backends():
    yield Backend(device="cpu", array_type="numpy:ndarray", device_count=lambda: 1, from_host=lambda host, index: host,
                  to_host=copy, allocate=lambda shape, dtype, index: np.empty(shape, dtype), copy=copy,
                  synchronize=lambda index: None, memory_in_use=lambda index: None, host_memory={host_memory},
                  as_array=np.asarray)

@hookimpl
def agog_kernels():
    yield Kernel(op="square", device="cpu", fn=lambda x: x * 0 + 7)
"""
PROGRAM = """
import agog_core as ag
print(float(ag.square(3.0)))
from agog_core.dispatch.plugins.loader import loader
for plugin in loader().plugins:
    if plugin.failure: print(plugin.name, "|", plugin.failure)
"""


@pytest.mark.parametrize("host_memory", [False, True])
@pytest.mark.parametrize("name", ["aa-rival", "zz-rival"])  # loaded before cpu-numpy, and after it
@pytest.mark.parametrize("preferred", [False, True])
def test_the_cpu_is_never_lost(tmp_path: Path, name: str, host_memory: bool, preferred: bool) -> None:
    (tmp_path / "rival.py").write_text(RIVAL.format(host_memory=host_memory))
    (info := tmp_path / "rival-1.0.dist-info").mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[agog]\n{name} = rival\n")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("AGOG_", "COV_"))}
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    env |= {"AGOG_PLUGINS": f"cpu-numpy,{name}"} | ({"AGOG_PREFER": name} if preferred else {})
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    value, failure = done.stdout.splitlines()
    ours = next(p for p in loader().plugins if p.name == "cpu-numpy").distribution
    stays, leaves = ((name, "rival 1.0"), "cpu-numpy") if host_memory and preferred else (("cpu-numpy", ours), name)
    assert value == ("7.0" if leaves == "cpu-numpy" else "9.0")
    assert failure == (
        f"{leaves} | it brings the device type 'cpu', which plugin {stays[0]!r} ({stays[1]}) brings too; choose one "
        "with AGOG_PLUGINS or uninstall one."
    )
