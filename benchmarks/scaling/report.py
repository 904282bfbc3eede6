"""Report: what is measured and computed as tables in Markdown, and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from benchmarks.scaling.model import Network, Step, cut, fitted

Results = Mapping[str, Any]
"""What `__main__` writes: "machine", "ranks" with what each number of them has measured, and "computed"."""

RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

TIMES = ("step", "plain", "alone", "wait")
"""Of a row of "steps"."""

COMPUTED = ("computed", "computed without overlap")

MB = 1 << 20

FIRST = MB
"""Bytes of the first bucket of several."""


class Way(NamedTuple):
    """How gradients are sent, and whether the ranks differ in their times."""

    bucket: int = 4 * MB
    overlaps: bool = True
    has_stragglers: bool = True


WAYS = {
    "4 MB, no stragglers": Way(has_stragglers=False),
    "buckets of 4 MB": Way(),
    "buckets of 1 MB": Way(MB),
    "buckets of 25 MB": Way(25 * MB),
    "4 MB, no overlap": Way(overlaps=False),
}
"""What efficiencies are computed of."""

PUBLISHED = {"Horovod: Inception V3, ResNet-101": (512, 0.90), "Horovod: VGG-16": (512, 0.68)}
"""GPUs and efficiency, of 128 servers at 25 Gbit/s: Sergeev and Del Balso, Horovod, arXiv:1802.05799, and the
benchmarks in its documentation."""


def computed(results: Results, network: Network) -> dict[str, Any]:
    """Efficiencies by way and number of ranks of the step that one rank has measured, each rank on a machine of its
    own; and the networks that fit what several ranks have measured on this one."""
    step = Step(**results["ranks"]["1"]["parts"])
    found: dict[str, Any] = {
        "latency": network.latency,
        "bandwidth": network.bandwidth,
        "spread": step.spread,
        "efficiency": {name: efficiencies(step, network, way) for name, way in WAYS.items()},
        "fitted": {},
        "steps": {},
    }
    for ranks, rows in several(results).items():
        fit = fitted([(row["bytes"], row["agog"]) for row in rows["all_reduce"]], ranks)
        found["fitted"][str(ranks)] = {"latency": fit.latency, "bandwidth": fit.bandwidth}
        found["steps"][str(ranks)] = [
            [like(step, row, ranks, fit, way) for way in (True, False)] for row in rows["steps"]
        ]
    return found


def efficiencies(step: Step, network: Network, way: Way) -> dict[str, float]:
    """By number of ranks."""
    alike = step if way.has_stragglers else replace(step, spread=0.0)
    buckets = cut(step.size, way.bucket, FIRST)
    return {str(n): alike.efficiency(n, network, buckets, way.overlaps) for n in RANKS}


def like(step: Step, row: Mapping[str, float], ranks: int, fit: Network, overlaps: bool) -> float:
    """Seconds that the model gives for a measured step of ranks that share this machine, by the fitted network."""
    factor = row["plain"] / (step.forward + step.backward + step.update)
    forward, backward, update, copy = (
        factor * seconds for seconds in (step.forward, step.backward, step.update, step.copy)
    )
    shared = Step(forward, backward, update, step.size, copy=copy, ready=step.ready)
    buckets = cut(step.size, row["bytes"], FIRST if row["bytes"] < step.size else step.size)
    return shared.seconds(ranks, fit, buckets, overlaps)


def simulated(one: Mapping[str, Any]) -> list[str]:
    """What one rank has measured of a network that is simulated, beside what the model gives."""
    given = one.get("simulated")
    if given is None:
        return []
    network = Network(given["microseconds"] * 1e-6, given["gigabits"] * 1e9 / 8)
    step, ranks = replace(Step(**one["parts"]), spread=0.0), given["ranks"]
    rows = []
    for row in given["steps"]:
        computed = (like(step, row, ranks, network, overlaps) for overlaps in (True, False))
        of_row = (_ms(row[name]) for name in ("plain", "alone", "step", "behind"))
        rows.append((_bytes(row["bytes"]), *of_row, hidden(row), *map(_ms, computed)))
    return _table(
        f"A step of one of {ranks} simulated ranks, at {given['gigabits']:g} Gbit/s and {given['microseconds']:g} us:",
        ("buckets", "without averages", "averages alone", "step", "without overlap", "hidden", *COMPUTED),
        rows,
    )


def several(results: Results) -> dict[int, Any]:
    """What each number of ranks above one has measured."""
    return {int(ranks): rows for ranks, rows in results["ranks"].items() if ranks != "1"}


def tables(results: Results) -> str:
    """What there is, in Markdown."""
    facts = results["machine"]
    lines = [f"{facts['date']}: {facts['processor']}, {facts['cores']} cores.", ""]
    for ranks, rows in results["ranks"].items():
        lines += _table(
            f"All-reduce, {ranks} rank{'s' * (ranks != '1')}:",
            ("size", "agog, ms", "mpi4py, ms", "mpi4py over agog"),
            [
                (_bytes(row["bytes"]), _ms(row["agog"]), _ms(row["mpi4py"]), f"{row['mpi4py'] / row['agog']:.2f}")
                for row in rows["all_reduce"]
            ],
        )
    if "1" in results["ranks"]:
        parts, cost = results["ranks"]["1"]["parts"], results["ranks"]["1"]["wrapper"]
        lines += [
            f"One rank: forward {_ms(parts['forward'])} ms, backward {_ms(parts['backward'])} ms, update "
            f"{_ms(parts['update'])} ms, copy into buckets {_ms(parts['copy'])} ms, spread {parts['spread']:.3f}. "
            f"The wrapper's step over the plain one: {cost['wrapped'] / cost['plain']:.3f} (least), "
            f"{cost['wrapped_fifth'] / cost['plain_fifth']:.3f} (mean of the fastest fifth).",
            "",
        ]
        lines += simulated(results["ranks"]["1"])
    for ranks, rows in several(results).items() if "computed" in results else ():
        lines += _table(
            f"A step, {ranks} ranks, in ms:",
            (
                "buckets",
                "step",
                "without averages",
                "averages alone",
                "waited",
                "hidden",
                "computed",
                "without overlap",
            ),
            [
                (_bytes(row["bytes"]), *(_ms(row[name]) for name in TIMES), hidden(row), *map(_ms, given))
                for row, given in zip(rows["steps"], results["computed"]["steps"][str(ranks)], strict=True)
            ],
        )
    if "computed" in results:
        given = results["computed"]
        for ranks, fit in given["fitted"].items():
            lines.append(
                f"{ranks} ranks are as if a ring had {fit['latency'] * 1e6:.1f} us and {fit['bandwidth'] / 1e9:.2f} "
                "GB/s."
            )
        network = f"{given['bandwidth'] * 8e-9:.0f} Gbit/s, {given['latency'] * 1e6:.0f} us, spread "
        network += f"{given['spread']:.3f}"
        lines += ["", *_table(f"Computed efficiency at {network}:", ("ranks", *WAYS), _efficiencies(given))]
    return "\n".join(lines)


def _efficiencies(given: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [(f"{n:,}", *(f"{given['efficiency'][way][str(n)]:.1%}" for way in WAYS)) for n in RANKS]


def hidden(row: Mapping[str, float]) -> str:
    """The share of the averages' time alone by which a step does not become longer."""
    return f"{1 - (row['step'] - row['plain']) / row['alone']:.0%}"


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [title, "", *(f"| {' | '.join(row)} |" for row in (names, ["---"] * len(names), *rows)), ""]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}"


def _bytes(size: float) -> str:
    for unit, factor in (("MB", MB), ("KB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.0f} {unit}"
    return f"{size:.0f} B"


def draw(results: Results, file: str) -> None:
    """The measured all-reduces with their fits, and the computed efficiencies with what others have published."""
    import numpy as np
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.2))
    colors = ("#9aa5bd", "#1f3b73", "#b8743a", "#5a8f5a", "#8a4f8a")
    for (ranks, rows), color in zip(several(results).items(), colors[1:], strict=False):
        sizes = [row["bytes"] for row in rows["all_reduce"]]
        for name, marker in (("agog", "o"), ("mpi4py", "x")):
            times = [row[name] * 1e3 for row in rows["all_reduce"]]
            left.plot(sizes, times, marker, color=color, label=f"{name}, {ranks} ranks")
        fit = Network(**results["computed"]["fitted"][str(ranks)])
        line = np.geomspace(min(sizes), max(sizes), 100)
        left.plot(line, [fit.ring(size, ranks) * 1e3 for size in line], "-", color=color, linewidth=0.8)
    left.set(xscale="log", yscale="log", xlabel="bytes", ylabel="ms", title="Measured: all-reduce on one machine")
    for (way, points), color in zip(results["computed"]["efficiency"].items(), colors, strict=False):
        right.plot([int(n) for n in points], list(points.values()), "-", color=color, label=way)
    for (name, point), marker in zip(PUBLISHED.items(), "^v", strict=True):
        right.plot(*point, marker, color="black", label=name)
    given = results["computed"]
    network = f"{given['bandwidth'] * 8e-9:.0f} Gbit/s, {given['latency'] * 1e6:.0f} us"
    right.set(xscale="log", xlabel="ranks", ylabel="efficiency", ylim=(0, 1.03), title=f"Computed: {network}")
    right.set_xscale("log", base=2)
    right.set_xticks(RANKS, [f"{n:,}" if n in (1, 8, 64, 256, 1024) else "" for n in RANKS])
    for axis in (left, right):
        axis.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(file)
