"""NVRTC compiles every source for several architectures, without a GPU and without a driver.

No source has lines for one architecture alone, so the definitions of a source take the architectures in turn. With
AGOG_ENDURANCE=1 each is compiled for all.
Where bits are promised, the machine-independent code must hold no fused multiply-add.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # so that the tests can import `definitions`

from definitions import DEFINITIONS

from agog_cuda_cupy.cuda.modules import FOLDER

nvrtc = pytest.importorskip(
    "cuda.bindings.nvrtc", reason="NVRTC is not installed: pip install cuda-bindings nvidia-cuda-nvrtc-cu12"
)

ENDURANCE = bool(os.environ.get("AGOG_ENDURANCE"))
ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]
# The sources whose kernels promise bits.
EXACT = {"distributions", "optimizers", "philox", "scatter"}


def _called(function: Any, *arguments: Any) -> Any:
    status, *results = function(*arguments)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, (function.__name__, status)
    return results[0] if results else None


def _compiled(code: str, options: list[str], size: Any, take: Any) -> bytes:
    """What NVRTC makes of a source; AssertionError with its log where it refuses."""
    program = _called(nvrtc.nvrtcCreateProgram, code.encode(), b"kernels.cu", 0, [], [])
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
    log = b" " * _called(nvrtc.nvrtcGetProgramLogSize, program)
    _called(nvrtc.nvrtcGetProgramLog, program, log)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, log.decode()
    made = b" " * _called(size, program)
    _called(take, program, made)
    return made


def _ptx(code: str, *options: str) -> str:
    return _compiled(code, list(options), nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX).decode()


def _fused(ptx: str) -> dict[str, int]:
    """For each kernel how many fused multiply-adds of floats it holds."""
    entries = re.split(r"\.entry ", ptx)[1:]
    return {entry.split("(")[0].strip(): len(re.findall(r"\bfma\.r", entry)) for entry in entries}


def test_every_source_is_listed() -> None:
    assert {path.stem for path in FOLDER.glob("*.cu")} == set(DEFINITIONS)


def _cases() -> Iterator[Any]:
    """Each source with its definitions, and the architectures that they are compiled for."""
    for source, variants in DEFINITIONS.items():
        for number, definitions in enumerate(variants):
            for architecture in ARCHITECTURES if ENDURANCE else [ARCHITECTURES[number % len(ARCHITECTURES)]]:
                name = "-".join([source, *definitions.values(), architecture])
                yield pytest.param(source, definitions, architecture, id=name)


def test_no_source_has_lines_for_one_architecture() -> None:
    assert [path.name for path in FOLDER.iterdir() if path.is_file() and "__CUDA_ARCH" in path.read_text()] == []


@pytest.mark.parametrize(("source", "definitions", "architecture"), [*_cases()])
def test_source_compiles(source: str, definitions: dict[str, str], architecture: str) -> None:
    code = (FOLDER / f"{source}.cu").read_text()
    # What `agog_cuda_cupy.compiling` asks for, and what CuPy adds to it.
    options = ["-std=c++17", f"--include-path={FOLDER}", "--device-as-default-execution-space", f"-arch={architecture}"]
    options += [f"-D{name}={value}" for name, value in definitions.items()]
    assert _compiled(code, options, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
    if source in EXACT:
        ptx = _ptx(code, *options)
        fused = _fused(ptx)
        assert fused
        assert not any(fused.values()), fused
        assert ".ftz" not in ptx  # small numbers stay what they are


def test_a_fused_multiply_add_is_seen() -> None:
    code = 'extern "C" __global__ void kernel(float* x) { x[0] = x[1] * x[2] + x[3]; }'
    assert _fused(_ptx(code, "-arch=sm_80")) == {"kernel": 1}


def test_what_does_not_compile_is_seen() -> None:
    with pytest.raises(AssertionError, match="expected a"):
        _ptx('extern "C" __global__ void kernel(float* x) { x[0] = ; }', "-arch=sm_80")
