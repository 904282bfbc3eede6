"""The command `agog doctor`, in processes of its own, on installations that are whole and on broken ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import agog
from agog.commands import speed
from agog.commands.doctor import examine


def run(*arguments: str, site: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AGOG_", "OPENBLAS_"))}
    env = {**kept, "AGOG_PLUGINS": "cpu-numpy", **environment}
    if site is not None:
        env["PYTHONPATH"] = str(site)
    return subprocess.run(
        [sys.executable, "-m", "agog", "doctor", *arguments], capture_output=True, text=True, env=env, check=False
    )


def distribution(folder: Path, name: str, *, version: str = "1.0", entry_point: str = "", requires: str = "") -> Path:
    """A distribution in a folder that is put before others."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"]
    (info / "METADATA").write_text("".join([*lines, f"Requires-Dist: {requires}\n" if requires else ""]))
    if entry_point:
        (info / "entry_points.txt").write_text(f"[agog]\n{name} = {entry_point}\n")
    return folder


def plugin(folder: Path, hooks: str) -> Path:
    (folder / "stranger_hooks.py").write_text(hooks)
    return distribution(folder, "stranger", entry_point="stranger_hooks")


def test_a_whole_installation_works() -> None:
    done = run()
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        *("Python:", "packages:", "plugins:", "devices:", "BLAS:", "speed:", "environment:"),
        "All that is installed works.",
    ]
    assert f"  agog-core: {agog.__version__}" in lines
    assert "  AGOG_PLUGINS: 'cpu-numpy' (only these plugins are loaded)" in lines
    (device,) = [line for line in lines if line.startswith("  cpu:0: works, kernels for ")]
    served, _, known = device.removeprefix("  cpu:0: works, kernels for ").removesuffix(" ops").partition(" of ")
    assert served == known


def test_json_has_the_same_for_programs() -> None:
    done = run("--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert list(report) == ["facts", "warnings", "broken"]
    assert report["facts"]["packages"]["agog"] == agog.__version__
    assert report["warnings"] == report["broken"] == []


def test_a_pinned_core_type_is_warned_of_and_is_no_fault() -> None:
    done = run("--json", OPENBLAS_CORETYPE="Haswell")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["facts"]["environment"]["OPENBLAS_CORETYPE"] == "'Haswell'"
    assert report["warnings"] == [
        "OPENBLAS_CORETYPE=Haswell pins the processor that OpenBLAS computes for; where it is an older one than yours, "
        "matrix products and what is made of them take up to twice as long. Unset it."
    ]


@pytest.mark.parametrize(
    ("load", "number", "fact", "warnings"),
    [
        (0.94, None, "0.9 programs on 2 processors in the last minute", []),
        (0.94, "8", "0.9 programs on 2 processors in the last minute", []),
        (
            *(5.25, None),
            "5.2 programs on 2 processors in the last minute; agog lets fewer threads compute while others need "
            "processors",
            [],
        ),
        (5.25, "1", "5.2 programs on 2 processors in the last minute", []),
        (
            *(0.94, "1", "0.9 programs on 2 processors in the last minute"),
            [
                "OPENBLAS_NUM_THREADS=1 lets kernels compute on one of 2 processors, and the others have nothing to "
                "do. Unset it."
            ],
        ),
        (
            *(5.25, "8", "5.2 programs on 2 processors in the last minute"),
            [
                "OPENBLAS_NUM_THREADS=8 on busy processors (5.2 programs on 2): products can take ten times as long as "
                "with one thread. Unset it, so that agog chooses, or set it to 1."
            ],
        ),
    ],
)
def test_busy_processors_are_seen(
    load: float, number: str | None, fact: str, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(speed, "compilers", lambda warnings: "llvm")  # NumPy may be older than the compiler knows
    monkeypatch.setattr(speed, "cards", lambda warnings: [])
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if number is not None:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", number)
    report = examine()
    assert report.facts["BLAS"]["load"] == fact
    assert report.warnings == warnings


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("AGOG_PLUGIN", "; did you mean AGOG_PLUGINS?"),
        (
            "AGOG_ZZZ",
            ". It reads AGOG_CACHE_DIR, AGOG_CHECK, AGOG_COMPILE, AGOG_DISTRIBUTE_DEADLINE, AGOG_EAGER, AGOG_MALLOPT, "
            "AGOG_NUM_THREADS, AGOG_PLUGINS, AGOG_PREFER, AGOG_STRICT_PLUGINS.",
        ),
    ],
)
def test_a_misspelled_variable_is_warned_of(name: str, advice: str) -> None:
    report = json.loads(run("--json", **{name: "x"}).stdout)
    assert report["warnings"] == [f"agog reads no environment variable {name}{advice}"]


def test_what_is_broken_is_named_and_is_the_exit_status(tmp_path: Path) -> None:
    site = distribution(tmp_path, "stranger", entry_point="not_there.hooks")
    done = run(site=site, AGOG_PLUGINS="cpu-numpy,stranger")
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[-2:] == [
        "BROKEN: stranger (stranger 1.0) failed: ModuleNotFoundError: No module named 'not_there'",
        "Something is broken; see above.",
    ]


def test_no_device_is_broken() -> None:
    done = run(AGOG_PLUGINS="")
    assert done.returncode == 1
    assert "BROKEN: no plugin brings a device: pip install agog-cpu-numpy." in done.stdout.splitlines()


def test_a_device_that_computes_nonsense_is_broken(tmp_path: Path) -> None:
    hooks = """
import numpy as np
from agog_core.plugin import Kernel, hookimpl

@hookimpl
def agog_kernels():
    yield Kernel(op="add", device="cpu", fn=np.subtract, priority=500)
"""
    done = run(site=plugin(tmp_path, hooks), AGOG_PLUGINS="cpu-numpy,stranger")
    assert done.returncode == 1
    assert (
        "BROKEN: device cpu:0: a + b with its gradient fails: ArithmeticError: expected 18.0 and [5.0, 9.0], got -8.0 "
        "and [-3.0, -5.0]"
    ) in done.stdout.splitlines()


def test_a_device_without_hardware_is_no_fault_and_says_why(tmp_path: Path) -> None:
    hooks = """
from agog_core.plugin import Backend, hookimpl

@hookimpl
def agog_backends():
    functions = dict.fromkeys(("from_host", "to_host", "copy", "synchronize"), lambda *arguments: None)
    yield Backend(device="tpu", array_type="tpu:Array", device_count=lambda: 0, unavailable=lambda: "no TPU driver",
                  **functions)
"""
    done = run(site=plugin(tmp_path, hooks), AGOG_PLUGINS="cpu-numpy,stranger")
    assert done.returncode == 0, done.stdout
    assert "  tpu: not usable: no TPU driver" in done.stdout.splitlines()


def test_members_of_other_versions_are_broken(tmp_path: Path) -> None:
    site = distribution(tmp_path, "agog-zebra", requires="agog-core==9.9")
    done = run(site=distribution(site, "agog-yak", requires="agog-none==1.0"))
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.startswith("BROKEN")] == [
        "BROKEN: agog-yak 1.0 needs agog-none 1.0, which is not installed: pip install agog-none==1.0.",
        f"BROKEN: agog-zebra 1.0 needs agog-core 9.9, and {agog.__version__} is installed: pip install agog-core==9.9.",
    ]
