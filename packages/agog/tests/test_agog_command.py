"""The command `agog`, as `python -m agog`, in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import agog


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "COLUMNS": "200", "AGOG_PLUGINS": "cpu-numpy", **environment}
    return subprocess.run(
        [sys.executable, "-m", "agog", *arguments], capture_output=True, text=True, env=env, check=False
    )


def broken_plugin(folder: Path) -> str:
    """A distribution whose plugin cannot be imported; the path to put before others."""
    metadata = folder / "broken-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[agog]\nbroken = not_there.hooks\n")
    return str(folder)


def test_explain_says_which_kernel_runs() -> None:
    done = run("explain", "matmul", "--device", "cpu", "--dtype", "float64")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "matmul on device 'cpu' with dtype float64:\n"
        f"  chosen: plugin 'cpu-numpy' (agog-cpu-numpy {agog.__version__}), priority 0, every dtype\n"
    )


def test_explain_of_a_device_without_kernels_is_the_error_that_a_call_would_raise() -> None:
    done = run("explain", "matmul", "--device", "gpu", AGOG_PLUGINS="cpu-numpy")
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[0] == "No kernel is registered for op 'matmul' on device 'gpu' with dtype float32."
    assert done.stdout.splitlines()[-1] == (
        "Run it elsewhere (with tf.device('cpu'):), or install a plugin that brings the kernel. "
        "`agog explain matmul --device gpu --dtype float32` prints this again."
    )


@pytest.mark.parametrize(
    ("arguments", "plugins", "status"),
    [
        (["matmul"], "cpu-numpy", 0),
        (["matmul", "--device", "cpu"], "cpu-numpy", 0),
        (["matmul", "--dtype", "string"], "cpu-numpy", 1),
        (["matmul"], "", 1),
    ],
)
def test_the_exit_status_of_explain_says_whether_the_op_runs(arguments: list[str], plugins: str, status: int) -> None:
    assert run("explain", *arguments, AGOG_PLUGINS=plugins).returncode == status


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["explain", "matmull"], "Error: explain: there is no op 'matmull'; did you mean matmul?"),
        (["explain", "matmul", "--dtype", "float33"], "Error: Cannot convert 'float33' to a dtype; the dtypes are "),
    ],
)
def test_what_does_not_exist_is_named(arguments: list[str], error: str) -> None:
    done = run(*arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(error)


def test_plugins_lists_devices_and_kernels() -> None:
    done = run("plugins")
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in done.stdout.splitlines()]
    (cells,) = [row for row in rows if row[0] == "cpu-numpy"]
    assert cells[:3] == ["cpu-numpy", f"agog-cpu-numpy {agog.__version__}", "cpu:0"]
    assert int(cells[3]) > 50
    assert cells[4] == "loaded"


def test_ops_lists_inputs_gradient_dtypes_and_kernels() -> None:
    done = run("ops", "hyperbolic cosine")
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in done.stdout.splitlines()]
    cells = next(row for row in rows if row[0] == "cosh")
    assert cells == ["cosh", "The hyperbolic cosine, elementwise.", "x", "x", "floats, complex", "cpu (cpu-numpy)"]


def test_an_op_that_is_named_is_shown_whole() -> None:
    done = run("ops", "gather")
    assert done.stdout.splitlines() == [
        "gather: Pick slices of a tensor along an axis.",
        "inputs:",
        "  params: differentiable; a tensor of rank at least 1.",
        "  indices: of its own dtype; positions on the axis, int32 or int64, of any shape.",
        "attributes:",
        "  axis: int; the axis.",
        "result: of the dtype of params",
        "effect: none",
        "elementwise: no",
        "dtypes: all",
        "kernels: cpu (cpu-numpy)",
    ]
    lines = run("ops", "random_normal").stdout.splitlines()
    assert lines[1:6] == [
        "inputs: none",
        "attributes:",
        "  shape: tuple[int, ...]; the shape.",
        "  key: tuple[int, int, int]; another in each call",
        "  dtype: str; a float dtype.",
    ]
    assert "effect: random" in lines
    lines = run("ops", "apply_adam").stdout.splitlines()
    assert lines[1:4] == ["inputs:", "  variable: updated in place", "  m: updated in place"]
    assert "  learning_rate: float; another in each call" in lines
    assert "  use_nesterov: bool" in lines
    assert "result: none: it updates variables" in lines


def test_ops_that_do_not_exist_are_named() -> None:
    done = run("ops", "brew")
    assert done.returncode == 1
    assert done.stderr == "Error: no op has 'brew' in its name or in what it does; `agog ops` lists all.\n"


def test_plugins_names_a_plugin_that_failed(tmp_path: Path) -> None:
    done = run("plugins", AGOG_PLUGINS="cpu-numpy,broken", PYTHONPATH=broken_plugin(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "broken (broken 1.0) failed: ModuleNotFoundError: No module named 'not_there'" in done.stdout.splitlines()
    assert done.stderr == ""


def test_version() -> None:
    assert run("--version").stdout.strip().endswith(agog.__version__)
