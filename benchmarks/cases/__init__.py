"""Cases: all programs, in the order of tables."""

from __future__ import annotations

from benchmarks.cases.convolutions import CONVOLUTIONS
from benchmarks.cases.data import DATA
from benchmarks.cases.layers import LAYERS
from benchmarks.cases.models import MODELS
from benchmarks.cases.small import SMALL
from benchmarks.kinds import Case

CASES: dict[str, Case] = {case.name: case for case in (*SMALL, *LAYERS, *CONVOLUTIONS, *MODELS, *DATA)}
