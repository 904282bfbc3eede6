"""Image: machine code that a process maps has the bits of what LLVM loads, and only code without a need of it."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from agog_cpu_llvm import image, presence, processor, units
from agog_cpu_llvm.kernels import softmax
from agog_testing import says

pytestmark = [
    pytest.mark.skipif(presence.unavailable() is not None, reason=str(presence.unavailable())),
    pytest.mark.skipif(not image.IS_KNOWN, reason="LLVM loads the object files of this system."),
]


def test_what_is_mapped_has_the_bits_of_what_llvm_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path))
    x = np.random.default_rng(0).normal(size=(64, 300)).astype(np.float32)
    results = []
    for is_known in (True, False):
        monkeypatch.setattr(units, "_units", {})
        monkeypatch.setattr(units, "_engines", [])
        monkeypatch.setattr(image, "IS_KNOWN", is_known)
        for path in (tmp_path / "llvm").glob("*"):
            path.unlink()
        results.append([softmax.make(op, "float32", "cpu:0")(x, axis=1) for op in ("softmax", "log_softmax")])
        assert bool(units._engines) is not is_known
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(
    "text",
    [
        "declare void @outside()\ndefine void @f() { call void @outside() ret void }",
        "@number = internal global i64 0\ndefine void @f() { store i64 1, ptr @number ret void }",
        "@number = global i64 5\ndefine i64 @f() { %n = load i64, ptr @number ret i64 %n }",
    ],
    ids=["a call", "zeros to write to", "a number to write to"],
)
def test_code_that_needs_more_than_itself_is_no_image(text: str) -> None:
    from agog_cpu_llvm import machine

    head = 'target triple = "unknown-unknown-unknown"\ntarget datalayout = ""\n'
    assert image.linked(machine.assemble(head + text, optimize=False, is_movable=True)) is None


def test_memory_that_cannot_be_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forbidding:
        def __init__(self, *_: object, **__: object) -> None: ...

        def mprotect(self, *_: object) -> int:
            return -1

    monkeypatch.setattr(image.ctypes, "CDLL", Forbidding)
    monkeypatch.setattr(image.ctypes, "get_errno", lambda: errno.EACCES)
    with says(OSError, "[Errno 13] compiled code cannot be executed: Permission denied"):
        image.mapped(b"\xc3")


def test_the_processor_is_known_as_llvm_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked_anew() -> int:
        processor._description.cache_clear()
        processor.register_bytes.cache_clear()
        return processor.register_bytes()

    by_linux = asked_anew()
    with monkeypatch.context() as patch:
        patch.setattr(processor, "_CPUINFO", Path("/nowhere"))
        by_llvm = asked_anew()
    asked_anew()
    assert by_linux == by_llvm
