"""The examples with ``--device gpu``: each prints what it prints on the CPU."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner

EXAMPLES = Path(__file__).parents[2] / "examples"
# Program to its arguments.
RUNS = {
    "linear_regression": ["--steps", "60"],
    "huber": ["--epochs", "1"],
    "mlp": ["--epochs", "1"],
    "fit": ["--epochs", "1"],
    "cnn": ["--epochs", "0"],
    "cnn_lstm": ["--epochs", "0"],
    "gan": ["--steps", "2"],
    "char_rnn": ["--steps", "1", "--units", "8", "--length", "8"],
    "transformer": ["--steps", "1"],
    "mnist": ["--epochs", "1"],
}


def printed(name: str, device: str) -> list[float]:
    """The numbers that an example prints."""
    main = runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]
    result = CliRunner().invoke(main, [*RUNS[name], "--device", device], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return [float(number) for number in re.findall(r"-?\d+\.\d+", result.stdout)]


@pytest.mark.parametrize("name", RUNS)
def test_an_example_prints_what_it_prints_on_the_cpu(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where checkpoints go
    assert printed(name, "gpu") == pytest.approx(printed(name, "cpu"), rel=0.02, abs=0.02)


def test_every_example_is_run() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(RUNS)
