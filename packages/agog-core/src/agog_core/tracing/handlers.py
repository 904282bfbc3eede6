"""Handlers: whether the program, where it is now, goes on after an error: in the block of a ``try``."""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

# Who calls a function that is being traced: what is around that sees errors in any case.
_OUTERMOST = ("agog_core.tracing.first_call", "agog_core.tracing.taping")


def may_be_caught() -> bool:
    """Whether a ``try`` of the function that is being traced, or of what it has called, is around this call."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module in _OUTERMOST:
            return False
        if not f"{module}.".startswith(("agog.", "agog_")) and _is_in_try(frame.f_code, frame.f_lasti):
            return True
        frame = frame.f_back
    return False


@lru_cache(1024)
def _is_in_try(code: CodeType, offset: int) -> bool:
    """Whether an error at a place of some code comes to a handler of a ``try``; those of ``with`` let errors pass."""
    entries: list[Any] = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]  # no two for one place
    names = {each.offset: each.opname for each in dis.get_instructions(code)}
    while (entry := next((each for each in entries if each.start <= offset < each.end), None)) is not None:
        following = [name for at, name in names.items() if at >= entry.target][:2]
        if following[0] == "PUSH_EXC_INFO" and following[1] != "WITH_EXCEPT_START":
            return True
        offset = entry.target
    return False
