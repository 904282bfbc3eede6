"""Presence: detection of CuPy, a driver and a GPU, with a sentence about missing ones."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec


@cache
def unavailable() -> str | None:
    """Why there is no device, in one sentence; where the driver is missing, CUDA's own. It stays so in a process."""
    if "cupy" not in sys.modules and find_spec("cupy") is None:
        return "cupy is not installed: pip install agog-cuda-cupy[cuda12], or [cuda13] for a driver of CUDA 13"
    try:
        import cupy

        count = cupy.cuda.runtime.getDeviceCount()
    except ImportError as error:
        return f"cupy cannot be imported: {str(error).strip().splitlines()[0]}"
    except RuntimeError as error:
        return f"CUDA says: {error}"
    return None if count else "CUDA finds no GPU"


def device_count() -> int:
    """How many GPUs CUDA shows, which `CUDA_VISIBLE_DEVICES` decides; none where it cannot be asked."""
    if unavailable() is not None:
        return 0
    import cupy

    count: int = cupy.cuda.runtime.getDeviceCount()
    return count
