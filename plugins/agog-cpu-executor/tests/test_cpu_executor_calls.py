"""Every call of a kernel that the ops' samples make, lowered and emitted, gives the bits that the kernel gives."""

from __future__ import annotations

from typing import Any

import pytest

from agog_core.compiler import Compiler
from agog_core.dispatch.op import all_ops
from agog_testing.compilers import check_calls, interpreter
from agog_testing.opinfo import table

ONE_OF_EACH_KIND = ("bfloat16", "bool", "complex64", "float16", "float32", "float64", "int32", "string")

_known: set[Any] = set()
_known_compiled: set[Any] = set()


@pytest.mark.parametrize("op", sorted(all_ops()))
def test_calls_of_an_op(op: str) -> None:
    for dtype in table[op].dtypes:
        if dtype in ONE_OF_EACH_KIND:
            check_calls(table[op], dtype, known=_known)


@pytest.mark.parametrize("op", sorted(all_ops()))
def test_calls_of_an_op_with_a_compiler_of_all(op: str) -> None:
    compiler = Compiler(name="interpreter", device="cpu", compile=interpreter.compile, takes=interpreter.takes)
    for dtype in {"float32", "int32"} & set(table[op].dtypes):
        check_calls(table[op], dtype, compilers=[compiler], known=_known_compiled)
