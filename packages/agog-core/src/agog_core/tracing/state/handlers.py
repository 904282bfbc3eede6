"""Handlers: whether the program is in a ``try`` block, and may go on after an error."""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

# Who calls a function that is being traced: what is around that sees errors in any case.
_OUTERMOST = "agog_core.tracing.traces.first_call"


def may_be_caught() -> bool:
    """Whether a ``try`` of the function that is being traced, or of what it has called, is around this call."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module == _OUTERMOST:
            return False
        if not f"{module}.".startswith(("agog.", "agog_")) and _is_in_try(frame.f_code, frame.f_lasti):
            return True
        frame = frame.f_back
    return False


def _is_in_try(code: CodeType, offset: int) -> bool:
    """Whether an error at a place of some code comes to a handler of a ``try``; those of ``with`` let errors pass."""
    handlers = _handlers(code)
    while (found := next((each for each in handlers if each[0] <= offset < each[1]), None)) is not None:
        _, _, offset, is_of_try = found
        if is_of_try:
            return True
    return False


@lru_cache(256)
def _handlers(code: CodeType) -> tuple[tuple[int, int, int, bool], ...]:
    """Where code stands whose errors a handler gets, where that begins, and whether it is a ``try``'s; no two are for
    one place."""
    entries: list[Any] = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]  # typeshed has it not
    names = [(each.offset, each.opname) for each in dis.get_instructions(code)] if entries else []
    found = []
    for entry in entries:
        following = [name for offset, name in names if offset >= entry.target][:2]
        is_of_try = following[0] == "PUSH_EXC_INFO" and following[1] != "WITH_EXCEPT_START"
        found.append((entry.start, entry.end, entry.target, is_of_try))
    return tuple(found)
