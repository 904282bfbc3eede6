"""Speed: what would make agog faster on this machine, and why; a part of the command ``agog doctor``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

from agog_core.dispatch.plugins.loader import loader
from agog_core.dispatch.plugins.ranking import ranked

_CARD = Path("/dev/nvidia0")
_SMALL, _LARGE = np.float32(1e-40), np.float32(1.0)


def compilers(warnings: list[str]) -> str:
    """What compiles for the CPU; a warning says what is missing, or why it cannot be used."""
    known = {plugin.name for plugin in loader().plugins}  # also those that AGOG_PLUGINS leaves out
    found = ranked("compilers", "cpu")
    if "cpu-llvm" not in known:
        warnings.append(
            "agog-cpu-llvm is not installed: it makes native loops of traced functions, large elementwise ops and "
            "steps of optimizers, which NumPy passes over several times. pip install agog-cpu-llvm."
        )
    for each in found:
        if each.why is not None:
            why = each.why.removeprefix("not available: ")
            warnings.append(f"{each.distribution} compiles nothing here, so that NumPy computes alone. {why}")
    return ", ".join(each.what.name for each in found if each.why is None) or "none"


def cards(warnings: list[str], card: Path = _CARD) -> Iterator[str]:
    """A card of NVIDIA, if the system has one; a warning where no plugin would use it."""
    if card.exists():
        yield "of NVIDIA"
        if not any(plugin.name == "cuda-cupy" for plugin in loader().plugins):
            warnings.append(
                "This machine has a card of NVIDIA, and no plugin for it. pip install 'agog-cuda-cupy[cuda12]', or "
                "[cuda13], as the driver has it."
            )


def threads(warnings: list[str], processors: int, load: float) -> None:
    """Warn where the environment allows one thread and other processors have nothing to do."""
    names = [
        name
        for name in ("AGOG_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
        if os.environ.get(name, "").isdigit()
    ]
    if names and os.environ[names[0]] == "1" and processors > 1 and load < processors / 2:
        warnings.append(
            f"{names[0]}=1 lets kernels compute on one of {processors} processors, and the others have nothing to do. "
            "Unset it."
        )


def denormals(warnings: list[str]) -> str:
    """How much longer a processor takes for numbers below 1e-38; a warning where they are taken for zeros."""
    if _SMALL * _LARGE == 0:
        warnings.append(
            "Numbers below 1e-38 are taken for zeros in this process: a library that was built with -ffast-math has "
            "told the processor so, and results differ from those of other machines."
        )
        return "taken for zeros"
    times = _seconds(_SMALL) / _seconds(_LARGE)
    return f"a product of numbers below 1e-38 takes {max(times, 1.0):.0f} times as long as one of others"


def _seconds(number: np.float32) -> float:
    numbers, results = np.full(4096, number), np.empty(4096, np.float32)
    least = float("inf")
    for _ in range(20):
        start = perf_counter()
        np.multiply(numbers, np.float32(0.5), out=results)
        least = min(least, perf_counter() - start)
    return least
