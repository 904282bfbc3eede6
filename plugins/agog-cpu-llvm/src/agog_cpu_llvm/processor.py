"""Processor: what compiled code depends on beside what it is made of."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from itertools import takewhile
from pathlib import Path

import numpy as np

_CPUINFO = Path("/proc/cpuinfo")
# Its lines that matter; others change from one look to the next.
_FIELDS = (
    *("vendor_id", "cpu family", "model", "model name", "stepping", "flags"),
    *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features"),
)


@cache
def identity() -> str:
    """The processor, and the releases of LLVM, Python, NumPy and this plugin: part of the keys of code on disk."""
    import llvmlite  # here, because calls that are not taken need none

    sources = b"".join([path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))])
    releases = llvmlite.__version__, np.__version__, sys.version, hashlib.sha256(sources).hexdigest()
    return " ".join((*releases, *_description()))


@cache
def register_bytes() -> int:
    """The bytes of the widest registers."""
    features = _description()[-1].split()
    return 64 if "avx512f" in features else 32 if "avx2" in features else 16


@cache
def _description() -> tuple[str, ...]:
    """What the processor is and, at the end, what it can do."""
    try:
        with _CPUINFO.open() as file:  # of Linux; of many processors only the first is read
            lines = [line.partition(":") for line in takewhile(str.strip, file)]
    except OSError:
        from llvmlite import binding  # which takes longer to load

        features = [name for name, is_present in binding.get_host_cpu_features().items() if is_present]
        return binding.get_process_triple(), binding.get_host_cpu_name(), " ".join(sorted(features))
    found = {name.strip(): value.strip() for name, _, value in lines}
    return tuple([found[name] for name in _FIELDS if name in found])
