"""What is compiled stays on disk, until its source, a header or an option changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cupy
import pytest

from agog_cuda_cupy import compiling

CODE = '#include "one.cuh"\nextern "C" __global__ void kernel(float* x) { x[threadIdx.x] = VALUE; }'


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, ...]]:
    """The options of each compilation, in folders of the test's own."""
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "one.cuh").write_text("#define VALUE 1\n")
    monkeypatch.setattr(compiling, "FOLDER", tmp_path / "headers")
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "kept"))
    found: list[tuple[str, ...]] = []
    compile_using_nvrtc = cupy.cuda.compiler.compile_using_nvrtc

    def compile(source: str, options: tuple[str, ...]) -> Any:
        found.append(options)
        return compile_using_nvrtc(source, options)

    monkeypatch.setattr(cupy.cuda.compiler, "compile_using_nvrtc", compile)
    return found


def number(*options: str) -> float:
    """What the kernel writes."""
    options = f"--include-path={compiling.FOLDER}", *options
    x = cupy.zeros(2, "float32")
    compiling.compile(code=CODE, options=options).get_function("kernel")((1,), (2,), (x,))
    return float(x[0])


def test_a_source_is_compiled_once(compiled: list[tuple[str, ...]], tmp_path: Path) -> None:
    assert [number(), number()] == [1, 1]
    assert compiled == [(f"--include-path={tmp_path / 'headers'}",)]
    (kept,) = (tmp_path / "kept").iterdir()
    assert (kept.name[:5], kept.suffix) == ("agog_", ".cubin")


def test_a_header_that_has_changed_is_compiled(compiled: list[tuple[str, ...]], tmp_path: Path) -> None:
    assert number() == 1
    (tmp_path / "headers" / "one.cuh").write_text("#define VALUE 2\n")
    assert number() == 2
    assert len(compiled) == 2


def test_other_options_are_compiled(compiled: list[tuple[str, ...]]) -> None:
    number()
    number("-DOTHER=1")
    assert len(compiled) == 2


def test_nothing_is_kept_where_nothing_can_be_written(compiled: list[tuple[str, ...]], tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file, and no folder")
    assert [number(), number()] == [1, 1]
    assert len(compiled) == 2


@pytest.mark.parametrize("name", ["", None], ids=["empty", "none"])
def test_it_is_kept_where_cupy_keeps_what_it_compiles(name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUPY_CACHE_DIR") if name is None else monkeypatch.setenv("CUPY_CACHE_DIR", name)
    assert compiling._folder() == Path.home() / ".cupy" / "kernel_cache"
