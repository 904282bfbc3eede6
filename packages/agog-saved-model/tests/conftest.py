"""What the tests of saved models share."""

from __future__ import annotations

from pathlib import Path

import pytest

import agog_core as ag
from agog_saved_model import Asset


class Line(ag.Module):
    """A module with all that is kept: variables, functions of several kinds, tensors, containers, and a file."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.slope = ag.Variable(2.0, name="slope")
        self.parts = [self.slope, ag.Variable([1.0, 2.0], trainable=False, name="fixed")]
        self.by_name = {"steps": ag.Variable(3), "inner": ag.Module()}
        self.by_name["inner"].bias = ag.Variable(0.5, name="bias")
        self.offsets = ag.constant([1, 2])
        self.file = Asset(file)
        self.note = "no part"

    @ag.function(input_signature=[ag.TensorSpec([None])])
    def __call__(self, x):
        return self.slope * x + self.by_name["inner"].bias

    @ag.function
    def scaled(self, x, scale=2.0, names=("a",)):
        return dict.fromkeys(names, self.slope * x * scale)

    @ag.function(input_signature=[ag.TensorSpec([])])
    def step(self, x):
        self.by_name["steps"].assign_add(1)
        self.slope.assign_add(x)
        return self.slope

    @ag.function(input_signature=[])
    def path(self):
        return self.file.asset_path


@pytest.fixture
def line(tmp_path: Path) -> Line:
    """A module that was called."""
    file = tmp_path / "vocabulary.txt"
    file.write_text("a\nb\n")
    made = Line(file)
    made.scaled(ag.constant(1.0))
    made.scaled(ag.constant([1.0, 2.0]), 3.0, names=("b", "c"))
    return made
