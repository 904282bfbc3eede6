"""The examples, as their readers run them: in processes of their own, with few steps."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

# Program to its arguments, and what its last line looks like.
RUNS = {
    "linear_regression": (["--steps", "300"], r"y = (2\.9|3\.0)\d \* x \+ (1\.9|2\.0)\d"),
    "huber": (["--epochs", "3"], r"y = -?\d+\.\d\d \* x \+ \d+\.\d\d"),
    "mlp": (["--epochs", "3"], r"test accuracy: (8[5-9]|9\d)\.\d %"),
    "fit": (["--epochs", "3"], r"test accuracy: (8[5-9]|9\d)\.\d %"),
    "cnn": (["--epochs", "3"], r"test accuracy: (8[5-9]|9\d)\.\d %"),
    "cnn_lstm": (["--epochs", "1"], r"test accuracy: \d+\.\d %"),
    "gan": (["--steps", "60"], r"near the ring: \d+ %"),
    "char_rnn": (["--steps", "3", "--units", "32"], None),
    "transformer": (["--steps", "10"], r"copied right: \d+\.\d %"),
}
# Program with --logdir to a scalar that it writes.
SCALARS = {"cnn_lstm": b"accuracy", "fit": b"epoch_val_accuracy"}


def run(name: str, arguments: list[str], folder: Path) -> str:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", RUNS)
def test_example_runs(name: str, tmp_path: Path) -> None:
    arguments, last = RUNS[name]
    lines = run(name, arguments, tmp_path).strip().split("\n")
    assert last is None or re.fullmatch(last, lines[-1]), lines[-1]


@pytest.mark.parametrize("name", SCALARS)
def test_summaries_are_written(name: str, tmp_path: Path) -> None:
    run(name, ["--epochs", "1", "--logdir", "logs"], tmp_path)
    (file,) = (tmp_path / "logs").iterdir()
    assert file.name.startswith("events.out.tfevents.")
    assert SCALARS[name] in file.read_bytes()


def test_a_run_repeats_itself(tmp_path: Path) -> None:
    first, second = (run("mlp", ["--epochs", "1"], tmp_path) for _ in range(2))
    assert first == second


def test_every_example_is_run_and_listed() -> None:
    names = {file.stem for file in EXAMPLES.glob("*.py")}
    assert names == {*RUNS, "mnist"}
    listed = (EXAMPLES / "README.md").read_text()
    assert [name for name in sorted(names) if f"[{name}.py]({name}.py)" not in listed] == []
