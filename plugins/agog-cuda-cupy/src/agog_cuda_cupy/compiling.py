"""Compiling: CUDA C by NVRTC, with IEEE 754's float32 and a cache on disk.

`cupy.RawModule` is not used, because it lets float32 numbers below 2**-126 be zero, and takes what it has compiled
before though a header has changed since.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agog_cuda_cupy.cuda.modules import FOLDER


def compile(*, code: str, options: Sequence[str]) -> Any:
    """The module of a source, for the GPU that is set: compiled now, or by any process before."""
    import cupy

    cuda = cupy.cuda
    headers = "".join(header.read_text() for header in sorted(FOLDER.glob("*.cuh")))
    facts = code, headers, *options, cuda.Device().compute_capability, cuda.nvrtc.getVersion()
    file = _folder() / f"agog_{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}.cubin"
    try:
        compiled = file.read_bytes()
    except OSError:
        compiled, _ = cuda.compiler.compile_using_nvrtc(code, tuple(options))
        _keep(file, compiled)
    module = cuda.function.Module()
    module.load(compiled)
    return module


def _folder() -> Path:
    """Where CuPy keeps what it compiles."""
    return Path(os.environ.get("CUPY_CACHE_DIR") or Path.home() / ".cupy" / "kernel_cache")


def _keep(file: Path, compiled: bytes) -> None:
    """Write a file at once, since processes share the folder; where nothing can be written, nothing is kept."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as written:
            written.write(compiled)
        os.replace(written.name, file)
    except OSError:
        return
