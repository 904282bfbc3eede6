"""Random programs give the bits, traced, that they give eagerly: by NumPy alone, and with a compiler of all groups."""

from __future__ import annotations

import os

import pytest

from agog_core.compiler import Compiler
from agog_testing.compilers import compilers_in_use, interpreter
from agog_testing.random_programs import check_program
from agog_testing.random_programs.executors import running

COUNT = int(os.environ.get("AGOG_RANDOM_PROGRAMS", "60"))
SEED = int(os.environ.get("AGOG_RANDOM_SEED", "0"))
PARTS = 10

INTERPRETER = Compiler(name="interpreter", device="cpu", compile=interpreter.compile, takes=interpreter.takes)


@pytest.mark.parametrize("compilers", [(), (INTERPRETER,)], ids=["numpy", "compiled"])
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_programs(part: int, compilers: tuple[Compiler, ...]) -> None:
    print(f"programs {SEED} to {SEED + COUNT - 1}")
    with running("compilers"), compilers_in_use(*compilers):
        for number in range(SEED + part, SEED + COUNT, PARTS):
            check_program(number)
