"""The command ``agog-conformance``."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO

from tqdm import tqdm

from agog_core.dispatch.plugins.loader import Plugin
from agog_testing import matrix
from agog_testing.conformance import formats, processes, report
from agog_testing.conformance.cases import ConformanceError
from agog_testing.conformance.collection import DEFAULT_SEED, Selection, find_plugin
from agog_testing.conformance.processes import start_method
from agog_testing.conformance.results import Results
from agog_testing.conformance.timing import FASTER, SLOWER, Timing, verdicts
from agog_testing.conformance.work import Ended, Listing, Request, answer
from agog_testing.conformance.workers import PATIENT, Died, Workers
from agog_testing.kinds import QUICK

# A process has a context of its own on a device, which takes some of its memory.
_MOST_JOBS_ON_A_DEVICE = 4
_INTERRUPTED = 130
_SECONDS_IN_A_FILE = 60.0

_EPILOG = f"""\
exit codes: 0 all passed; 1 a test failed, or with --faster-than a kernel is not faster; 2 wrong usage, nothing to test,
or nothing that is available here; {_INTERRUPTED} interrupted.

--faster-than times whole calls of the op, with what agog itself adds, by both plugins in turn, and keeps the least time
of each. A kernel is faster for a dtype if it takes 1/{FASTER:g} of the other's time or less for one of the sizes, and
not over 1/{SLOWER:g} of it for any.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.json == options.junit == "-":
        parser.error("--json and --junit cannot both print; give one of them a file.")
    if options.matrix is None and options.plugin is None:
        parser.error("name a plugin, or with --matrix a folder.")
    try:
        return _run(options) if options.matrix is None else _run_matrix(options)
    except ConformanceError as error:
        _complain(str(error))
        return 2
    except KeyboardInterrupt:
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agog-conformance",
        description="Run a plugin's kernels through the tests of the plugin contract, each op in a process of its own.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("plugin", nargs="?", help="the plugin's name, as `agog plugins` lists it")
    parser.add_argument("--op", action="append", default=[], help="test this op only; may be repeated")
    parser.add_argument("--skip", action="append", default=[], metavar="OP", help="leave out this op; may be repeated")
    parser.add_argument("--dtype", action="append", default=[], help="test this dtype only; may be repeated")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="the seed of the samples (default: %(default)s)")
    parser.add_argument(
        "--jobs",
        type=_positive_int,
        help="how many processes test ops at once (default: one for each core; at most "
        f"{_MOST_JOBS_ON_A_DEVICE} where a device has memory of its own)",
    )
    parser.add_argument(
        "--timeout",
        type=_positive,
        default=60.0,
        metavar="SECONDS",
        help="of the processor, or of waiting, for each test, without its reference (default: %(default)g)",
    )
    parser.add_argument("--quick", action="store_true", help=f"test {QUICK}; prove more before a release")
    parser.add_argument("-x", "--fail-fast", action="store_true", help="stop at the first failure")
    parser.add_argument("-v", "--verbose", action="store_true", help="print a line for each test")
    parser.add_argument("--json", metavar="FILE", help="write the results as JSON; - prints them")
    parser.add_argument("--junit", metavar="FILE", help="write the results as JUnit's XML; - prints them")
    parser.add_argument(
        "--faster-than", metavar="PLUGIN", help="after the tests, prove that the kernels are faster than this plugin's"
    )
    matrix = parser.add_argument_group("the matrix")
    matrix.add_argument(
        "--matrix",
        type=Path,
        metavar="FOLDER",
        help="run suites and the tests on the plugin's device, or on every device installed, and write a report there",
    )
    matrix.add_argument("--suite", type=Path, action="append", default=[], metavar="PATH", help="tests for each device")
    matrix.add_argument("--pytest", default="", metavar="OPTIONS", help="options of pytest, in one word")
    matrix.add_argument("--name", help="the backend's name in the report")
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"a positive number is expected; got {text}.")
    return value


def _positive_int(text: str) -> int:
    if (value := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"1 or more is expected; got {text}.")
    return value


def _run_matrix(options: argparse.Namespace) -> int:
    """Run the matrix; options of the kit apply to each backend's."""
    kit = ["--seed", str(options.seed), "--timeout", str(options.timeout)]
    for name, values in (("op", options.op), ("skip", options.skip), ("dtype", options.dtype)):
        kit += [part for value in values for part in (f"--{name}", value)]
    kit += ["--quick"] if options.quick else []
    kit += ["--jobs", str(options.jobs)] if options.jobs else []
    pytest = tuple(shlex.split(options.pytest))
    suites = tuple(options.suite)
    return matrix.run(matrix.Plan(options.matrix.resolve(), options.plugin, options.name, suites, pytest, tuple(kit)))


def _run(options: argparse.Namespace) -> int:
    plugin = find_plugin(options.plugin)
    if options.faster_than is not None:
        _check_rival(plugin, options.faster_than)
    out = sys.stderr if "-" in (options.json, options.junit) else sys.stdout
    selection = Selection(
        options.plugin,
        tuple(options.op),
        tuple(options.skip),
        tuple(options.dtype),
        options.seed,
        options.faster_than,
        options.quick,
    )
    timed: list[Timing] = []
    is_interrupted = False
    with Workers(partial(answer, selection), start_method(), PATIENT) as workers:
        listing = processes.listing(workers, plugin.name)
        results = Results(listing.tests)
        count = f"{len(listing.tests)} tests, seed {options.seed}" + (f", quick: {QUICK}" if options.quick else "")
        print(f"agog-conformance: plugin {plugin.name!r} ({plugin.distribution}), {count}", file=out, flush=True)
        try:
            _test(workers, results, options, options.jobs or _default_jobs(listing), out)
            if options.faster_than and any(outcome.is_bad for _, outcome in results.outcomes):
                _complain("tests failed, so nothing was timed.")
            elif options.faster_than:
                with Workers(partial(answer, selection), start_method()) as undisturbed:
                    timed = _time(undisturbed, results, options.timeout)
        except KeyboardInterrupt:
            is_interrupted = True
    print(report.coverage([(*test.place, outcome) for test, outcome in results.outcomes], listing.uncovered), file=out)
    if timed:
        print(report.speeds(timed, options.faster_than), file=out)
    print(report.summary([outcome for _, outcome in results.outcomes], len(listing.tests), options.quick), file=out)
    code = _INTERRUPTED if is_interrupted else _exit_code(options, results, timed)
    account = formats.Account(
        plugin.name,
        plugin.distribution,
        options.seed,
        code,
        [results.ended[test.id] for test, _ in results.outcomes],
        len(listing.tests) - len(results.ended),
        listing.uncovered,
        timed,
        formats.Choice(selection.ops, selection.skip, selection.dtypes, selection.quick),
        _left_out(results, listing, options, is_interrupted),
    )
    _write(options.json, formats.as_json, account)
    _write(options.junit, formats.as_junit, account)
    return code


def _left_out(
    results: Results, listing: Listing, options: argparse.Namespace, is_interrupted: bool
) -> list[tuple[str, str]]:
    """What was to be tested and did not run, with the reason."""
    stop = "Ctrl-C ended the run" if is_interrupted else "-x stopped the run at the first failure"
    found = [(test.id, stop) for test in results.tests if test.id not in results.ended]
    found += [
        (test.id, outcome.text)
        for test, outcome in results.outcomes
        if outcome.kind in ("not checked", "not run", "unavailable")
    ]
    found += [(op, "the kit has no facts about this op") for op in listing.uncovered]
    return found


def _check_rival(plugin: Plugin, name: str) -> None:
    """Raise when a plugin cannot be compared with another one in speed."""
    rival = find_plugin(name)
    both = {(kernel.op, kernel.device) for kernel in plugin.kernels}
    if rival is plugin:
        raise ConformanceError(f"--faster-than names {name!r} itself; name another plugin.")
    if not both & {(kernel.op, kernel.device) for kernel in rival.kernels}:
        raise ConformanceError(f"--faster-than: plugins {plugin.name!r} and {name!r} have no op and device in common.")


def _default_jobs(listing: Listing) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST_JOBS_ON_A_DEVICE) if listing.own_memory else cores


def _test(workers: Workers, results: Results, options: argparse.Namespace, jobs: int, out: TextIO) -> None:
    """Run the tests, and print what is to be said of them."""

    def show(ended: Iterable[Ended]) -> None:
        for test in ended:
            if options.verbose or (test.outcome.is_bad and test.outcome.kind != "not run"):
                line = report.line(test.id, test.outcome)
                # In a terminal, above the bar, which `write` draws again.
                tqdm.write(line, file=out) if sys.stderr.isatty() else print(line, file=out)

    requests = [Request("test", op) for op in results.ops]
    try:
        with tqdm(total=len(results.tests), unit="test", leave=False, **_pace()) as bar:
            for request, reply in workers.run(requests, options.timeout, jobs):
                if isinstance(reply, ConformanceError):
                    raise reply
                ended = results.add(request.op, reply)
                bar.update(len(results.ended) - bar.n)
                show(results.reportable())
                if options.fail_fast and any(test.outcome.is_bad for test in ended):
                    return
    finally:
        show(results.unreported())


def _pace() -> dict[str, float]:
    """How often a bar is drawn: in a file, such as the log of a machine that tests, only now and then."""
    return {} if sys.stderr.isatty() else dict.fromkeys(("delay", "mininterval", "maxinterval"), _SECONDS_IN_A_FILE)


def _time(workers: Workers, results: Results, limit: float) -> list[Timing]:
    """Time one op after another, while nothing else runs; an op whose process ends has failed."""
    found: list[Timing] = []
    for request, reply in workers.run([Request("time", op) for op in results.ops], limit):
        if isinstance(reply, Died):
            _complain(f"timing {request.op}: {reply.text}")
            results.add(request.op, reply)
        else:
            found.append(reply)
    return found


def _exit_code(options: argparse.Namespace, results: Results, timed: Sequence[Timing]) -> int:
    outcomes = [outcome for _, outcome in results.outcomes]
    absent = dict.fromkeys(outcome.text for outcome in outcomes if outcome.kind == "unavailable")
    for reason in absent:
        _complain(f"not available: {reason}")
    required = {name.strip() for name in os.environ.get("REQUIRE_BACKEND", "").split(",")}
    if absent and options.plugin in required:
        _complain(f"REQUIRE_BACKEND names {options.plugin!r}, so this is a failure.")
        return 1
    if any(outcome.is_bad for outcome in outcomes):
        return 1
    if all(outcome.kind == "unavailable" for outcome in outcomes):
        _complain("no test was run, so nothing is proved.")
        return 2
    if options.faster_than and not timed:
        _complain(f"there is nothing to compare with {options.faster_than!r}.")
        return 2
    return 0 if all(verdicts(timed).values()) else 1


def _complain(text: str) -> None:
    print(f"agog-conformance: {text}", file=sys.stderr)


def _write(name: str | None, form: Callable[[formats.Account], str], account: formats.Account) -> None:
    if name == "-":
        print(form(account), end="")
    elif name is not None:
        Path(name).write_text(form(account), encoding="utf-8")
