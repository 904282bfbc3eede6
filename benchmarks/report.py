"""Report: the results as a table in Markdown, and as a picture."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

Results = Mapping[str, Any]
"""What `__main__` writes: "machine", and "times" by threads, case and framework, in seconds a unit."""

PEERS = {"agog": ("torch",), "agog, traced": ("torch", "torch.compile", "jax.jit")}
"""Who is compared with whom."""

PACKAGES = ("agog", "agog-cpu-llvm", "numpy", "torch", "jax")


def machine() -> dict[str, Any]:
    """The processor, BLAS and versions that results belong to."""
    from threadpoolctl import threadpool_info

    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    import numpy as np  # loads its BLAS, which is asked for next

    np.dot(np.ones(1), np.ones(1))
    blas = [f"{pool['internal_api']} {pool['version']} ({pool.get('architecture')})" for pool in threadpool_info()]
    return {
        "date": date.today().isoformat(),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "blas": blas[0] if blas else "unknown",
        "python": platform.python_version(),
        "versions": versions,
    }


def processor() -> str:
    """The processor's name, with family and model where the system tells them."""
    file = Path("/proc/cpuinfo")
    if not file.exists():
        return platform.processor() or platform.machine()
    pairs = [line.partition(":") for line in file.read_text().splitlines()]
    facts = {key.strip(): value.strip() for key, _, value in reversed(pairs)}
    return (
        f"{facts.get('model name', platform.machine())} (family {facts.get('cpu family')}, model {facts.get('model')})"
    )


def ratio(row: Mapping[str, float], name: str) -> float | None:
    """The time of one of agog's ways over that of its fastest peer; None where it or all peers are missing.

    What is eager is compared with what is eager, what is traced with everything.
    """
    peers = [row[peer] for peer in PEERS.get(name, ()) if peer in row]
    return row[name] / min(peers) if peers and name in row else None


def table(results: Results) -> str:
    """Microseconds, and agog's ratios to its fastest peer, for each number of threads; a ratio above 1 is bold."""
    facts = results["machine"]
    versions = ", ".join(f"{package} {number}" for package, number in facts["versions"].items())
    lines = [f"{facts['date']}: {facts['processor']}, {facts['cores']} cores, {facts['blas']}, Python "]
    lines[0] += f"{facts['python']}, {versions}."
    for threads, cases in results["times"].items():
        names = list(dict.fromkeys(name for row in cases.values() for name in row))
        lines += [
            "",
            f"{threads} thread{'s' * (threads != '1')}:",
            "",
        ]
        lines += ["| case | " + " | ".join(names) + " |", "|---" * (1 + len(names)) + "|"]
        for case, row in cases.items():
            lines.append(f"| {case} | " + " | ".join(_cell(row, name) for name in names) + " |")
    return "\n".join(lines) + "\n"


def _cell(row: Mapping[str, float], name: str) -> str:
    if name not in row:
        return ""
    time, over = f"{row[name] * 1e6:.3g}", ratio(row, name)
    if over is None:
        return time
    return f"{time} (**{over:.2f}**)" if over > 1 else f"{time} ({over:.2f})"


def draw(results: Results, file: str) -> None:
    """A bar for each case: the ratio of agog's time to the fastest peer's, on a logarithmic axis."""
    from matplotlib import pyplot

    columns: Sequence[tuple[str, Any]] = list(results["times"].items())
    names = list(dict.fromkeys(case for _, cases in columns for case in cases))  # one place for each, in all columns
    figure, axes = pyplot.subplots(
        1, len(columns), figsize=(5 * len(columns), 0.3 * len(names) + 1.2), sharey=True, squeeze=False
    )
    for axis, (threads, cases) in zip(axes[0], columns, strict=True):
        for shift, name, color in ((-0.2, "agog", "#7a8fb8"), (0.2, "agog, traced", "#1f3b73")):
            ratios = {names.index(case): over for case, row in cases.items() if (over := ratio(row, name)) is not None}
            places = [place + shift for place in ratios]
            axis.barh(places, [over - 1 for over in ratios.values()], 0.38, left=1, color=color, label=name)
        axis.set_yticks(range(len(names)), names)
        axis.set_xscale("log", base=2)
        axis.set_xlim(1 / 8, 4)
        axis.set_xticks([0.125, 0.25, 0.5, 1, 2, 4], ["1/8", "1/4", "1/2", "1", "2", "4"])
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_title(f"{threads} thread{'s' * (threads != '1')}")
        axis.set_xlabel("time over a peer's (left of 1, agog is faster)")
    axes[0][0].invert_yaxis()
    axes[0][0].legend(loc="lower left", fontsize="small")
    figure.tight_layout()
    figure.savefig(file)
