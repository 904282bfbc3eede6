"""The main job, `examples/mnist.py`, as its users run it: in processes of its own, on real digits."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import agog as tf

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, str(ROOT / "examples" / "mnist.py")]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)


def train(folder: Path, *arguments: str) -> str:
    """Train, and return what was printed."""
    done = run("--checkpoints", str(folder), *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def accuracy(printed: str) -> float:
    match = re.fullmatch(r"test accuracy: (\d+\.\d) %", printed.splitlines()[-1])
    assert match, printed
    return float(match[1])


def content(folder: Path) -> bytes:
    """All state at the end of a training: tensors, slots, the place in the data, random counters, metrics."""
    newest = tf.train.latest_checkpoint(str(folder))
    assert newest is not None
    return Path(f"{newest}.safetensors").read_bytes()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("uninterrupted")
    train(folder, "--epochs", "6")
    return content(folder)


def test_all_state_is_in_the_checkpoint(tmp_path: Path) -> None:
    train(tmp_path, "--epochs", "1")
    (node, *_) = nodes = tf.contrib.checkpoint.object_metadata(tmp_path / "ckpt-12").nodes
    assert sorted(part.local_name for part in node.children) == [
        "batches",
        "metrics",
        "network",
        "optimizer",
        "random",
        "save_counter",
        "step",
    ]
    keys = {attribute.checkpoint_key for node in nodes for attribute in node.attributes}
    assert keys >= {
        "batches/.state",
        "metrics/accuracy/numer",
        "metrics/loss/denom",
        "network/hidden1/kernel",
        "optimizer/.slot/v/network/hidden1/kernel",
        "optimizer/beta1_power",
        "random/.state",
    }


def test_digits_are_learned(tmp_path: Path) -> None:
    assert accuracy(train(tmp_path, "--epochs", "15")) > 94


def test_a_resumed_run_ends_with_the_same_bits(tmp_path: Path, uninterrupted: bytes) -> None:
    train(tmp_path, "--epochs", "3")
    assert "ckpt-36, after step 36" in train(tmp_path, "--epochs", "6", "--resume")
    assert content(tmp_path) == uninterrupted


def test_a_killed_run_is_resumed_with_the_same_bits(tmp_path: Path, uninterrupted: bytes) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--epochs", "6", "--checkpoints", str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("ckpt-24*")):
            assert process.poll() is None, "it ended before it was killed"
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    train(tmp_path, "--epochs", "6", "--resume")
    assert content(tmp_path) == uninterrupted


# Runs the example, and kills it after so many steps, in the middle of what it does next: of a save, or of a step.
KILLED = f"""
import os, runpy, signal, sys, threading
steps, delay = int(sys.argv.pop(1)), float(sys.argv.pop(1))
sys.path.insert(0, {str(ROOT / "examples")!r})
import mnist
step = mnist.train_step
def counted(*arguments):
    global steps
    step(*arguments)
    steps -= 1
    if steps == 0:
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start() if delay else os.kill(os.getpid(), 9)
mnist.train_step = counted
mnist.main()
"""
SHORT = ["--epochs", "3", "--batch-size", "400", "--save-every", "2"]
STEPS = 12
# The second number is the time from the end of the step to the kill: none, or until somewhere in what comes next.
MOMENTS = [(3, 0.0), (8, 0.002)]
if os.environ.get("AGOG_ENDURANCE"):
    MOMENTS = [(step, delay) for step in range(1, STEPS + 1) for delay in (0.0, 0.001, 0.002, 0.004)]


@pytest.mark.parametrize("workers", [0, 2] if len(MOMENTS) > 2 else [2])
def test_a_run_killed_at_any_step_is_resumed_with_the_same_bits(tmp_path: Path, workers: int) -> None:
    arguments = [*SHORT, "--workers", str(workers)]
    train(tmp_path / "whole", *arguments)
    for steps, delay in MOMENTS:
        folder = tmp_path / f"{steps} {delay}"
        command = [sys.executable, "-c", KILLED, str(steps), str(delay), "--checkpoints", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr  # 0 where the last steps took less than the delay
        resumed = ["--resume"] if tf.train.latest_checkpoint(str(folder)) else []
        train(folder, *arguments, *resumed)
        assert content(folder) == content(tmp_path / "whole"), f"killed {delay} s after step {steps}"


def test_the_device_is_the_users_choice(tmp_path: Path, uninterrupted: bytes) -> None:
    train(tmp_path, "--epochs", "6", "--device", "fake:1")
    # The fake device computes with the same kernels, so the bits agree.
    assert content(tmp_path) == uninterrupted


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--device", "gpu:0"], "Error: /job:localhost/replica:0/task:0/device:GPU:0 unknown device."),
        (["--prefer", "nobody"], "Error: prefer: no plugin 'nobody' is loaded; loaded are "),
        (["--resume"], "Error: --resume: there is no checkpoint in "),
        (["--data", "not/there"], "Error: "),
    ],
)
def test_bad_arguments_are_one_clear_error(tmp_path: Path, arguments: list[str], error: str) -> None:
    done = run("--checkpoints", str(tmp_path / "none"), *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(error), done.stderr
    assert "Traceback" not in done.stderr


def test_mnist_passes_97_5_percent_in_5_epochs(tmp_path: Path) -> None:
    folder = os.environ.get("AGOG_DATA_DIR")
    if not folder:
        pytest.skip("AGOG_DATA_DIR is not set: the MNIST files are not here")
    assert accuracy(train(tmp_path, "--data", str(Path(folder) / "mnist"))) > 97.5
