"""tf.export: loaded when it is asked for, and a sentence where it is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import agog as tf
from agog.__main__ import main


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_without_the_package_one_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['agog_export'] = None\n"
        "import agog as tf\n"
        "try:\n"
        "    tf.export\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    assert printed(code) == "tf.export needs agog-export: `python -m pip install 'agog-export[onnx]'`."


def test_nothing_is_loaded_before_it_is_used() -> None:
    code = (
        "import sys, agog as tf\n"
        "tf.add(1.0, 2.0)\n"
        "print('agog_export' in sys.modules)\n"
        "tf.export.onnx\n"
        "print('agog_export' in sys.modules, 'onnx' in sys.modules, 'agog_export.rules' in sys.modules)"
    )
    assert printed(code).splitlines() == ["False", "True False False"]


def test_the_command_without_the_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.safetensors").touch()
    monkeypatch.setattr("agog.commands.export.find_spec", lambda name: None)
    done = CliRunner().invoke(main, ["export", str(tmp_path / "m.safetensors"), str(tmp_path / "m.onnx")])
    assert done.exit_code == 1
    assert done.output == ("Error: agog export: it needs agog-export: `python -m pip install 'agog-export[onnx]'`.\n")


def test_the_command_writes_a_saved_model(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="the package onnx is not installed")
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.save(str(tmp_path / "m.safetensors"))
    done = CliRunner().invoke(main, ["export", str(tmp_path / "m.safetensors"), str(tmp_path / "m.onnx")])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{tmp_path / 'm.onnx'}: 3 nodes, from ")
    assert (tmp_path / "m.onnx").stat().st_size > 24
