"""What `agog doctor` says of this machine's speed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agog.commands import speed
from agog_core.dispatch.plugins import loader, ranking


@pytest.fixture
def warnings() -> list[str]:
    return []


def test_a_compiler_that_is_missing(warnings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    others = [plugin for plugin in loader.loader().plugins if plugin.name != "cpu-llvm"]
    monkeypatch.setattr(loader.loader(), "plugins", others)
    assert speed.compilers(warnings) == "none"
    assert warnings == [
        "agog-cpu-llvm is not installed: it makes native loops of traced functions, large elementwise ops and steps of "
        "optimizers, which NumPy passes over several times. pip install agog-cpu-llvm."
    ]


def test_a_compiler_that_cannot_be_used(warnings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("agog_cpu_llvm")
    monkeypatch.setattr(ranking, "why_unusable", lambda what: "not available: It knows another NumPy.")
    assert speed.compilers(warnings) == "none"
    assert [text.partition(" compiles ")[2] for text in warnings] == [
        "nothing here, so that NumPy computes alone. It knows another NumPy."
    ]


def test_one_that_is_left_out_by_choice_is_not_missed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agog", "doctor", "--json"],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith(("AGOG_", "OPENBLAS_", "OMP_"))}
        | {"AGOG_PLUGINS": "cpu-numpy"},
        check=True,
    )
    report = json.loads(done.stdout)
    assert report["facts"]["speed"]["compilers"] == "none"
    assert not any("agog-cpu-llvm" in text for text in report["warnings"])


def test_a_card_without_a_plugin(warnings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(speed.cards(warnings, tmp_path / "none")) == warnings == []
    others = [plugin for plugin in loader.loader().plugins if plugin.name != "cuda-cupy"]
    monkeypatch.setattr(loader.loader(), "plugins", others)
    assert list(speed.cards(warnings, tmp_path)) == ["of NVIDIA"]
    assert warnings == [
        "This machine has a card of NVIDIA, and no plugin for it. pip install 'agog-cuda-cupy[cuda12]', or [cuda13], "
        "as the driver has it."
    ]


def test_denormal_numbers_are_timed(warnings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {speed._SMALL: 30e-6, speed._LARGE: 2e-6}
    monkeypatch.setattr(speed, "_seconds", seconds.__getitem__)
    assert speed.denormals(warnings) == "a product of numbers below 1e-38 takes 15 times as long as one of others"
    assert warnings == []


def test_denormal_numbers_that_are_taken_for_zeros(warnings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "_SMALL", np.float32(0))  # what a processor makes of it, told so
    assert speed.denormals(warnings) == "taken for zeros"
    assert warnings == [
        "Numbers below 1e-38 are taken for zeros in this process: a library that was built with -ffast-math has told "
        "the processor so, and results differ from those of other machines."
    ]
