"""Times of cases in agog and in the peers that are installed: ``python -m benchmarks --help``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from benchmarks import report
from benchmarks.cases import CASES
from benchmarks.frameworks import NAMES, present
from benchmarks.turns import Times, times, workers


@click.command()
@click.argument("cases", nargs=-1, type=click.Choice(list(CASES)), metavar="[CASE]...")
@click.option("--framework", "frameworks", multiple=True, type=click.Choice(list(NAMES)), help="Default: all here.")
@click.option("--threads", multiple=True, type=click.IntRange(1), default=(1, 2), show_default=True)
@click.option("--seconds", default=2.0, show_default=True, help="Of each program, in bursts.")
@click.option("--results", type=click.Path(path_type=Path), help="A JSON file that results are added to.")
@click.option("--picture", help="A file for the picture, such as ratios.svg.")
def main(
    cases: tuple[str, ...],
    frameworks: tuple[str, ...],
    threads: tuple[int, ...],
    seconds: float,
    results: Path | None,
    picture: str | None,
) -> None:
    """Time CASEs (default: all) in agog and its peers, in turn, and print agog's ratio to the fastest peer."""
    kept: dict[str, Any] = json.loads(results.read_text()) if results and results.exists() else {"times": {}}
    kept["machine"] = report.machine()
    for count in threads:
        table = kept["times"].setdefault(str(count), {})
        with workers(frameworks or present(), count) as at_work:
            for name in cases or CASES:
                taken, without = times(CASES[name], at_work, seconds)
                table.setdefault(name, {}).update({framework: t.least for framework, t in taken.items()})
                print_case(name, count, taken, without)
                if results:
                    results.write_text(json.dumps(kept, indent=1))
    click.echo("\n" + report.table(kept))
    if picture:
        report.draw(kept, picture)


def print_case(name: str, threads: int, taken: dict[str, Times], without: dict[str, str]) -> None:
    """Print a line for each framework, and what makes the comparison doubtful."""
    case = CASES[name]
    click.echo(f"\n{name}, a {case.unit}, {threads} thread{'s' * (threads != 1)}: {(type(case).__doc__ or '').strip()}")
    row = {framework: t.least for framework, t in taken.items()}
    values = sorted(t.value for t in taken.values())
    for framework, t in taken.items():
        over = report.ratio(row, framework)
        line = f"  {framework:14}{t.least * 1e6:12.2f} us   first call {t.first * 1e3:8.1f} ms"
        line += f"   {over:.2f} of the fastest peer of its kind" if over is not None else ""
        middle = values[len(values) // 2]
        if case.is_comparable and abs(t.value - middle) > 1e-3 * max(1.0, abs(middle)):
            line += f"   OTHER RESULT: {t.value:.6g}, most have {middle:.6g}"
        click.echo(line)
    for framework, reason in without.items():
        click.echo(f"  {framework:14}{'-':>12}      {reason}")


if __name__ == "__main__":
    main()
