"""The command `agog diff-backends` on a device that is right and on one with planted faults, in its own processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
import sys
import agog as tf

tf.set_random_seed(1)
w = tf.Variable(tf.random_normal([8, 4]))
x = tf.random_normal([16, 8])
print("this is not shown")
optimizer = tf.train.AdamOptimizer(0.1)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w))))
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
if len(sys.argv) > 1:
    raise SystemExit(sys.argv[1])
"""
HOOKS = """\
import numpy as np

import agog_kernels_xp
from agog_core.plugin import Kernel, hookimpl, requires

requires(2)
kernel_of = agog_kernels_xp.bind(np)


def wrong(*arrays, **attributes):
    result = kernel_of("{op}")(*arrays, **attributes)
    {fault}
    return result


def make(op, dtype, device):
    from agog_fake.launch import on_device

    return on_device(op, wrong)


@hookimpl
def agog_kernels():
    yield Kernel(op="{op}", device="fake", make=make, priority=500)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def plant(folder: Path, op: str, fault: str) -> None:
    """A plugin whose kernel for the fake device has a fault."""
    info = folder / "planted-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[agog]\nplanted = planted_hooks\n")
    (folder / "planted_hooks.py").write_text(HOOKS.format(op=op, fault=fault))


def run(folder: Path, *arguments: object, plugins: str = "cpu-numpy,fake,planted") -> subprocess.CompletedProcess[str]:
    if "planted" in plugins and not (folder / "planted_hooks.py").exists():
        plugins = "cpu-numpy,fake"
    env = {**os.environ, "PYTHONPATH": str(folder), "AGOG_PLUGINS": plugins}
    return subprocess.run(
        [sys.executable, "-m", "agog", "diff-backends", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )


def test_a_program_that_is_equal_on_both(program: Path, tmp_path: Path) -> None:
    done = run(tmp_path, program, "--a", "cpu", "--b", "fake:1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"All results of {program} on cpu and fake:1 are equal, within the tolerance.\n"


def test_the_first_op_that_differs_is_named_with_its_line_and_the_answer(program: Path, tmp_path: Path) -> None:
    plant(tmp_path, "tanh", "result[0, 3] += 0.25")
    done = run(tmp_path, program, "--b", "fake")
    assert (done.returncode, done.stderr) == (1, "")
    first, cpu, fake, wide, inputs = done.stdout.splitlines()
    assert first.startswith(f"call 4: tanh at {program}:11, result 1 of 1, differs at (0, 3) by 0.25 of its largest ")
    assert first.endswith(" value (allowed 0.0001):")
    values = [float(line.split("(")[1].rstrip(")")) for line in (cpu, fake, wide)]
    assert [line.split("  ")[1] for line in (cpu, fake, wide)] == ["cpu", "fake", "in float64"]
    assert abs(values[0] - values[2]) < 1e-6
    assert abs(values[1] - values[0] - 0.25) < 1e-6
    assert inputs == "  Its inputs are the same bits on both."


def test_a_difference_within_the_tolerance_is_none(program: Path, tmp_path: Path) -> None:
    plant(tmp_path, "tanh", "result[0, 3] += 0.01")
    assert run(tmp_path, program, "--b", "fake", "--tolerance", "0.1").returncode == 0
    assert run(tmp_path, program, "--b", "fake", "--tolerance", "0.001").returncode == 1


def test_what_is_wrong_in_a_gradient_is_found(program: Path, tmp_path: Path) -> None:
    plant(tmp_path, "reduce_mean_grad", "result = result * 2")
    done = run(tmp_path, program, "--b", "fake")
    assert done.returncode == 1
    assert f"reduce_mean_grad at {program}:12, result 1 of 1, differs" in done.stdout.splitlines()[0]


def test_what_is_wrong_in_an_update_is_found(program: Path, tmp_path: Path) -> None:
    plant(tmp_path, "apply_adam", "arrays[0][...] += 1")
    done = run(tmp_path, program, "--b", "fake")
    assert done.returncode == 1
    assert "  in float64  not known, for the op has overwritten what it was given" in done.stdout.splitlines()


def test_a_program_that_takes_another_way(tmp_path: Path) -> None:
    path = tmp_path / "branches.py"
    path.write_text(
        "import agog as tf\nx = tf.ones([2])\nif 'FAKE' in x.device:\n    tf.exp(x)\nelse:\n    tf.sin(x)\ntf.cos(x)\n"
    )
    done = run(tmp_path, path, "--b", "fake")
    assert done.returncode == 1
    assert done.stdout == (
        f"call 1: the program takes another way: on cpu sin at {path}:6, on fake exp at {path}:4. A value decided it "
        "that differs within the tolerance, or what is not the same each time, such as the clock.\n"
    )


def test_a_program_that_ends_on_one_device_only(tmp_path: Path) -> None:
    path = tmp_path / "ends.py"
    path.write_text("import agog as tf\nx = tf.ones([2])\nif 'FAKE' in x.device:\n    tf.exp(x)\n")
    done = run(tmp_path, path, "--b", "fake")
    assert done.returncode == 1
    assert done.stdout == f"call 1: on cpu the program has ended, on fake it goes on with exp at {path}:4.\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["5", "--b", "fake"], "Error: {program} fails on cpu: it has ended with exit status 5."),
        (["--b", "fake:7"], "Error: /job:localhost/replica:0/task:0/device:FAKE:7 unknown device."),
        (["--b", "fak"], "Error: Unknown attribute: 'fak' in 'fak'; the device types are cpu, fake, gpu."),
    ],
)
def test_what_cannot_run_is_status_2(program: Path, tmp_path: Path, arguments: list[str], error: str) -> None:
    done = run(tmp_path, program, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == error.format(program=program)
