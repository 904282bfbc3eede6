"""Presence: where nothing can be compiled, a sentence says why."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import types
from collections.abc import Iterator

import numpy as np
import pytest

from agog_cpu_llvm import numpy_loops, presence


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    presence.unavailable.cache_clear()
    presence.fusion_unavailable.cache_clear()
    yield
    presence.unavailable.cache_clear()
    presence.fusion_unavailable.cache_clear()


def test_pypy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "implementation", types.SimpleNamespace(name="pypy"))
    assert presence.unavailable() == "It relies on how CPython lays out its objects, and this is pypy."


def test_free_threaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: 1)
    assert presence.unavailable() == (
        "It relies on how objects are laid out in a CPython with a GIL, and this one is free-threaded."
    )


@pytest.mark.parametrize("version", ["3.0.0", "2.6.0", "2.2.6", "1.26.4"])
def test_an_unknown_numpy_is_not_looked_into(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "__version__", version)
    monkeypatch.setattr(numpy_loops, "fault", lambda: pytest.fail("addresses are read"))
    assert presence.fusion_unavailable() == f"It knows how NumPy 2.3 to 2.5 compute, and this is {version}."


def test_without_llvmlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "find_spec", lambda name: None)
    assert presence.unavailable() == "llvmlite is not installed: `python -m pip install llvmlite`."


def test_another_function_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    found = numpy_loops.find
    monkeypatch.setattr(numpy_loops, "find", lambda name, dtype: found("tan" if name == "exp" else name, dtype))
    assert numpy_loops.fault() == (
        f"NumPy {np.__version__} computes exp of float32 by another function than its inner loop."
    )


def test_no_function_where_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_loops, "find", lambda name, dtype: None)
    assert presence.fusion_unavailable() == (
        f"NumPy {np.__version__} has no inner loop of arccos for float32 where its releases keep it."
    )


def test_llvm_is_loaded_on_first_use() -> None:
    program = "import sys, agog_cpu_llvm.hooks as h; h.fusion_unavailable(); print('llvmlite' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.skipif(presence.unavailable() is not None, reason=str(presence.unavailable()))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", numpy_loops.UNARY)
def test_inner_loops_do_not_look_at_neighbours(name: str, dtype: str) -> None:
    random = np.random.default_rng(5)
    x = np.concatenate(
        [random.normal(size=300) * 10.0 ** random.integers(-10, 10, 300), random.normal(size=300)]
    ).astype(dtype)
    x[::50] = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30, -1e30, 1e-40, 88.7, -103.9, 710.0, 3.0], dtype)
    function = getattr(np, name)
    with np.errstate(all="ignore"):
        wanted = function(x)
        for start in range(1, 40):
            np.testing.assert_array_equal(function(x[start:]), wanted[start:])
            np.testing.assert_array_equal(function(x[start :: start + 1]), wanted[start :: start + 1])
            order = random.permutation(len(x))
            np.testing.assert_array_equal(function(x[order]), wanted[order])
