"""Traced functions that are compiled give the bits of eager calls: every op's calls, and random programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agog_core.compiler import Compiler
from agog_core.dispatch.op import all_ops
from agog_cpu_llvm import hooks, presence
from agog_testing.compilers import check_calls, compilers_in_use
from agog_testing.opinfo import table
from agog_testing.random_programs import check_program
from agog_testing.random_programs.executors import running

SENTENCE = presence.unavailable()
pytestmark = [
    pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE)),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

COUNT = int(os.environ.get("AGOG_RANDOM_PROGRAMS", "36"))
SEED = int(os.environ.get("AGOG_RANDOM_SEED", "0"))
PARTS = 10

_known: set[Any] = set()


@pytest.fixture(autouse=True)
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compiler]:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path))
    (compiler,) = hooks.agog_compilers()
    with compilers_in_use(compiler):
        yield compiler


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part: int) -> None:
    print(f"programs {SEED} to {SEED + COUNT - 1}")
    with running("compilers"):
        for number in range(SEED + part, SEED + COUNT, PARTS):
            check_program(number, large=part % 2 == 0)


@pytest.mark.parametrize("op", sorted(all_ops()))
def test_calls_of_an_op(op: str, compiler: Compiler) -> None:
    for dtype in {"float32", "int32"} & set(table[op].dtypes):
        check_calls(table[op], dtype, compilers=[compiler], known=_known)
