"""The examples as they are, trained in both ways: everything that a run creates ends with the same bits.

Each runs for fifty steps or more. In the usual run these are the small ones; with AGOG_ENDURANCE=1 all.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import agog as tf
from agog_core.random import generator
from agog_core.variables.variable import creation_hooks

EXAMPLES = Path(__file__).parents[2] / "examples"
ENDURANCE = os.environ.get("AGOG_ENDURANCE") == "1"

# Program to arguments for fifty steps; the large ones take minutes.
SMALL = {
    "fit": ["--epochs", "3"],
    "huber": ["--epochs", "2"],
    "linear_regression": ["--steps", "50"],
    "mlp": ["--epochs", "5"],
}
LARGE = {
    "char_rnn": ["--steps", "50", "--units", "32"],
    "cnn": ["--epochs", "2"],
    "cnn_lstm": ["--epochs", "3"],
    "gan": ["--steps", "50"],
    "mnist": ["--epochs", "5"],
    "transformer": ["--steps", "50"],
}


def outcome(
    name: str, arguments: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[tuple[str, bytes]], dict[str, object]]:
    """The variables that a run of an example creates, in their order, and the random state at its end."""
    folder.mkdir()
    monkeypatch.chdir(folder)  # where it saves
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    variables: list[Any] = []
    token = creation_hooks.set((variables.append,))
    try:
        done = CliRunner().invoke(module.main, arguments, catch_exceptions=False)
    finally:
        creation_hooks.reset(token)
        tf.config.run_functions_eagerly(False)
    assert done.exit_code == 0, done.output
    state = [(f"{v.dtype.name} {v.shape}", v.numpy().tobytes()) for v in variables]
    return state, generator().get_state()


@pytest.mark.parametrize("name", [*SMALL, *(LARGE if ENDURANCE else ())])
def test_trainings_end_with_the_same_bits(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = {**SMALL, **LARGE}[name]
    eager, state = outcome(name, arguments, tmp_path / "eager", monkeypatch)
    traced, traced_state = outcome(name, [*arguments, "--function"], tmp_path / "traced", monkeypatch)
    assert len(eager) > 1
    assert traced == eager
    assert traced_state == state


def test_every_example_is_trained() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == {*SMALL, *LARGE}
