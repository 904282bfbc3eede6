"""Times at 1, 2 and 4 ranks, and a model of up to 1,024 beside them: ``python -m benchmarks.scaling --help``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from benchmarks import report as machines
from benchmarks.scaling import report
from benchmarks.scaling.model import Network
from benchmarks.worker import PINNED, POOLS

UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "all": 1 << 40}


class Bytes(click.ParamType[int]):
    """A number of bytes, such as 4 B, 64 KB or 16 MB; all, for what is never reached."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        number = value.rstrip("BKMal").strip() or "1"
        unit = value.removeprefix(number).strip()
        if not number.isdecimal() or unit not in UNITS:
            self.fail(f"{value!r} is no number of bytes, such as 4B, 64KB, 16MB, or all.", param, ctx)
        return int(number) * UNITS[unit]


@click.command()
@click.option("--ranks", multiple=True, type=click.IntRange(1), default=(1, 2, 4), show_default=True)
@click.option("--case", default="mlp_big", show_default=True, help="Of benchmarks/cases, or mlp_deep: what is timed.")
@click.option("--small", default="mlp", show_default=True, help="The case of the wrapper's cost at one rank.")
@click.option("--size", "sizes", multiple=True, type=Bytes(), default=("4B", "4KB", "64KB", "1MB", "4MB", "100MB"))
@click.option("--bucket", "buckets", multiple=True, type=Bytes(), default=("1MB", "4MB", "25MB", "all"))
@click.option("--rounds", default=7, show_default=True, help="Of each measurement; the least counts.")
@click.option("--gigabits", default=100.0, show_default=True, help="A second, of the model's network.")
@click.option("--microseconds", default=5.0, show_default=True, help="The latency of the model's network.")
@click.option(
    "--simulated",
    type=(click.IntRange(2), float, float),
    default=(8, 10.0, 50.0),
    show_default=True,
    help="Ranks, Gbit/s and microseconds of a network that one rank waits for, without a processor.",
)
@click.option("--spread", type=float, help="Of the logarithm of a rank's times; by default that measured here.")
@click.option("--results", type=click.Path(path_type=Path), help="A JSON file that results are added to.")
@click.option("--computed-only", is_flag=True, help="Measure nothing: compute from what --results has.")
@click.option("--picture", help="A file for the picture, such as scaling.svg.")
def main(
    ranks: tuple[int, ...],
    case: str,
    small: str,
    sizes: tuple[int, ...],
    buckets: tuple[int, ...],
    rounds: int,
    gigabits: float,
    microseconds: float,
    simulated: tuple[int, float, float],
    spread: float | None,
    results: Path | None,
    computed_only: bool,
    picture: str | None,
) -> None:
    """Time all-reduces and steps of training at several numbers of ranks, and compute those of many."""
    kept: dict[str, Any] = json.loads(results.read_text()) if results and results.exists() else {"ranks": {}}
    wanted: dict[str, Any] = {"case": case, "small": small, "sizes": sizes, "buckets": buckets, "rounds": rounds}
    wanted["simulated"] = simulated
    for count in () if computed_only else ranks:
        kept["machine"] = machines.machine()
        kept["ranks"][str(count)] = measured(count, wanted)
        if results:
            results.write_text(json.dumps(kept, indent=1))
    if "1" in kept["ranks"]:
        if spread is not None:
            kept["ranks"]["1"]["parts"]["spread"] = spread
        kept["computed"] = report.computed(kept, Network(microseconds * 1e-6, gigabits * 1e9 / 8))
    if results:
        results.write_text(json.dumps(kept, indent=1))
    click.echo(report.tables(kept))
    if picture:
        report.draw(kept, picture)


def measured(ranks: int, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What so many processes measure, each on a processor of its own as far as there are any."""
    mpiexec = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if mpiexec is None:
        raise click.ClickException('there is no mpiexec: python -m pip install "agog-mpi[mpich]"')
    settings = {name: value for name, value in os.environ.items() if name not in PINNED}
    settings |= {f"{pool}_NUM_THREADS": "1" for pool in POOLS}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        program = [sys.executable, "-m", "benchmarks.scaling.ranks", str(file), json.dumps(wanted)]
        subprocess.run([mpiexec, "-n", str(ranks), *program], check=True, env=settings)
        found: dict[str, Any] = json.loads(file.read_text())
    return found


if __name__ == "__main__":
    main()
