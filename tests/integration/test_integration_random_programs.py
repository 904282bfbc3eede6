"""Random programs, as users write them, do traced what they do eagerly: values, gradients, errors, and what they leave.

AGOG_RANDOM_PROGRAMS sets how many there are, AGOG_RANDOM_SEED where they begin. Half of them have large arrays, and run
with the compilers that are installed. A failure prints a shortened program, and how to run it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agog_testing.programs import check_program
from agog_testing.programs.ways import WAYS, running

COUNT = int(os.environ.get("AGOG_RANDOM_PROGRAMS", "200"))
FIRST = int(os.environ.get("AGOG_RANDOM_SEED", "0"))
PARTS = 8  # the first half of large arrays


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large, way = part < PARTS // 2, WAYS[part % len(WAYS)]
    if large and way not in ("compilers", "nodes"):
        way = "compilers"
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path))
    with running(way):
        for number in range(FIRST + part, FIRST + COUNT, PARTS):
            found = check_program(number, large)
            assert found is None or found.kind != "sums", found
