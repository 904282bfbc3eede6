"""The conformance kit: every kernel of a plugin, for every dtype that it is for, through every check.

``agog-conformance PLUGIN``, or ``python -m agog_testing.conformance PLUGIN``, runs it. Plugin authors may run the same
tests in their own suite:

>>> from agog_testing.conformance import collect
>>> case = next(iter(collect("cpu-numpy", ops=["square"], dtypes=["float32"])))
>>> case.id, case.run()
('square/float32/value', Outcome(kind='passed', text=''))
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import agog_core as ag
from agog_core.dispatch.device import Device
from agog_core.dispatch.devices import device_types, get_device
from agog_core.dispatch.loader import Plugin, loader
from agog_core.errors import InvalidArgumentError
from agog_core.plugin import Kernel, Op, as_dtype, load_reference
from agog_testing import report
from agog_testing.checks import Check, checks_for
from agog_testing.opinfo import table
from agog_testing.report import Outcome
from agog_testing.subject import Subject, Violation

DEFAULT_SEED = 20181105


class ConformanceError(Exception):
    """The tests of a plugin cannot be collected; the text says why."""


@dataclass(frozen=True)
class Case:
    """One test of one kernel.

    Args:
        op: the op's name; a plugin's second kernel for it is ``"op#2"``.
        dtype: the dtype's name.
        check: the check's name.
        test: runs the check; None where the kernel is not available.
        reason: why it is not available, or why it is expected to fail.
    """

    op: str
    dtype: str
    check: str
    test: Callable[[], None] | None
    reason: str | None = None

    @property
    def id(self) -> str:
        """The test's name, ``"op/dtype/check"``."""
        return f"{self.op}/{self.dtype}/{self.check}"

    def run(self) -> Outcome:
        """Run the test, and say how it ended."""
        if self.test is None:
            return Outcome("unavailable", self.reason or "")
        try:
            self.test()
        except Violation as violation:
            outcome = Outcome("failed", str(violation))
        except Exception:
            outcome = Outcome("failed", "the test itself raised an exception:\n" + traceback.format_exc().rstrip())
        else:
            outcome = Outcome("passed")
        if self.reason is None:
            return outcome
        if outcome.kind == "passed":
            return Outcome(
                "xpassed", f"it passes, though the plugin expects it to fail ({self.reason}); take the entry out"
            )
        return Outcome("xfailed", self.reason)

    def __str__(self) -> str:
        return self.id


def collect(
    plugin: str, ops: Collection[str] = (), dtypes: Collection[str] = (), seed: int = DEFAULT_SEED
) -> list[Case]:
    """Collect the tests of a plugin's kernels.

    Args:
        plugin: the plugin's name.
        ops: the ops to test; all when it is empty.
        dtypes: the dtypes to test; all when it is empty.
        seed: the seed of the samples.

    Returns:
        The tests, by op and dtype.

    Raises:
        ConformanceError: there is no such plugin, it failed to load, a choice names nothing, or the plugin's tolerances
            or expected failures name nothing that it has.
    """
    found = _plugin(plugin)
    cases = list(_cases(found, seed))
    _check_declarations(found, cases)
    for what, chosen, known in (
        ("op", ops, {case.op.partition("#")[0] for case in cases}),
        ("dtype", dtypes, {case.dtype for case in cases}),
    ):
        if unknown := sorted(set(chosen) - known):
            raise ConformanceError(
                f"plugin {plugin!r} has no kernel for {what} {', '.join(unknown)}; it has them for "
                f"{', '.join(sorted(known)) or 'none'}."
            )
    return [
        case for case in cases if (not ops or case.op.partition("#")[0] in ops) and (not dtypes or case.dtype in dtypes)
    ]


def not_covered(plugin: str) -> list[str]:
    """The ops for which a plugin has kernels and the kit has no facts; raises `ConformanceError` as `collect` does."""
    return sorted({kernel.op for kernel in _plugin(plugin).kernels} - table.keys())


def _plugin(name: str) -> Plugin:
    plugins = {plugin.name: plugin for plugin in loader().plugins}
    if name not in plugins:
        raise ConformanceError(f"there is no plugin {name!r}; installed are {', '.join(sorted(plugins)) or 'none'}.")
    plugin = plugins[name]
    if plugin.skipped:
        raise ConformanceError(f"plugin {name!r} ({plugin.distribution}) is left out by AGOG_PLUGINS.")
    if plugin.failure is not None:
        raise ConformanceError(f"plugin {name!r} ({plugin.distribution}) failed to load: {plugin.failure}")
    if not plugin.kernels:
        raise ConformanceError(
            f"plugin {name!r} ({plugin.distribution}) brings no kernels, so there is nothing to test."
        )
    return plugin


def _cases(plugin: Plugin, seed: int) -> Iterator[Case]:
    seen: Counter[tuple[str, str]] = Counter()
    for kernel in sorted(plugin.kernels, key=lambda kernel: kernel.op):
        if kernel.op not in table:
            continue
        device, why = _device(kernel)
        info = table[kernel.op]
        for dtype in info.dtypes:
            if kernel.dtypes is not None and dtype not in kernel.dtypes:
                continue
            if device is not None and not _runs_on(device, info.op, dtype):
                continue
            seen[kernel.op, dtype] += 1
            op = kernel.op if seen[kernel.op, dtype] == 1 else f"{kernel.op}#{seen[kernel.op, dtype]}"
            if device is None:
                yield Case(op, dtype, "value", None, why)
                continue
            subject = Subject(
                info=info,
                dtype=dtype,
                device=device,
                kernel=device.bind(kernel.op, as_dtype(dtype), _function(kernel))[0],
                tolerances=plugin.conformance.tolerances,
                seed=seed,
            )
            for check, test in checks_for(subject).items():
                reason = _expected_failure(plugin, f"{op}/{dtype}/{check}")
                yield Case(op, dtype, check, _bound(test, subject, plugin), reason)


def _device(kernel: Kernel) -> tuple[Device | None, str | None]:
    """The device that a kernel is for, or why it cannot be used here."""
    why = kernel.unavailable()
    if why is not None:
        return None, why
    if kernel.device not in device_types():
        return None, f"no installed plugin brings the device type {kernel.device!r}."
    try:
        return get_device(kernel.device), None
    except InvalidArgumentError as error:
        return None, str(error)


def _function(kernel: Kernel) -> Callable[..., Any]:
    """The function of a kernel; for one that cannot be imported, a function that says so."""
    try:
        function: Callable[..., Any] = load_reference(kernel.fn)
    except Exception as error:
        failure = f"it cannot be imported: {type(error).__name__}: {error}"

        def unusable(*arrays: Any, **attributes: Any) -> Any:
            raise ImportError(failure)

        return unusable
    return function


def _runs_on(device: Device, op: Op, dtype: str) -> bool:
    """Whether an op runs on a device at all: others run on the host, whatever kernels there are."""
    return device.holds(as_dtype(dtype)) and (device.backend.host_memory or not op.host)


def _bound(test: Check, subject: Subject, plugin: Plugin) -> Callable[[], None]:
    def run() -> None:
        with _others_preferred(plugin, subject.device), warnings.catch_warnings():
            # Infinities and NaN are results like others; a host library may warn of them, and that is no fault.
            warnings.simplefilter("ignore", RuntimeWarning)
            test(subject)

    return run


@contextmanager
def _others_preferred(plugin: Plugin, device: Device) -> Iterator[None]:
    """Let other ops run by the kernels of the device's own plugin, so that a kernel is blamed for its own op only."""
    owners = [other.name for other in loader().plugins if device.backend in other.backends and other is not plugin]
    before = ag.prefer(*owners)
    try:
        yield
    finally:
        ag.prefer(*before)


def _expected_failure(plugin: Plugin, name: str) -> str | None:
    expected = plugin.conformance.expected_failures
    return next((reason for pattern, reason in expected.items() if fnmatchcase(name, pattern)), None)


def _check_declarations(plugin: Plugin, cases: Sequence[Case]) -> None:
    """Raise when the plugin's own `Conformance` speaks of tests that do not exist."""
    is_absent = {case.op for case in cases if case.test is None}
    ids = [case.id for case in cases]
    stale = [
        pattern
        for pattern in plugin.conformance.expected_failures
        if not any(fnmatchcase(name, pattern) for name in ids) and pattern.partition("/")[0] not in is_absent
    ]
    if stale:
        raise ConformanceError(
            f"plugin {plugin.name!r}: agog_conformance() expects failures of tests that do not exist: "
            f"{', '.join(stale)}. Take the "
            "entries out, or correct them."
        )
    known = {kernel.op for kernel in plugin.kernels} | {f"{case.op}/{case.dtype}" for case in cases}
    if unknown := [key for key in plugin.conformance.tolerances if key not in known]:
        raise ConformanceError(
            f"plugin {plugin.name!r}: agog_conformance() gives tolerances for what it has no kernel for: "
            f"{', '.join(unknown)}."
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0 when every test passed, else 1, and 2 when the tests cannot be collected."""
    parser = argparse.ArgumentParser(
        prog="agog-conformance", description="Run a plugin's kernels through the tests of the plugin contract."
    )
    parser.add_argument("plugin", help="the plugin's name, as `agog plugins` lists it")
    parser.add_argument("--op", action="append", default=[], help="test this op only; may be repeated")
    parser.add_argument("--dtype", action="append", default=[], help="test this dtype only; may be repeated")
    parser.add_argument("-x", "--fail-fast", action="store_true", help="stop at the first failure")
    parser.add_argument("-v", "--verbose", action="store_true", help="print a line for each test")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="the seed of the samples (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        cases = collect(options.plugin, options.op, options.dtype, options.seed)
        uncovered = not_covered(options.plugin)
    except ConformanceError as error:
        print(f"agog-conformance: {error}", file=sys.stderr)
        return 2
    distribution = _plugin(options.plugin).distribution
    print(f"agog-conformance: plugin {options.plugin!r} ({distribution}), {len(cases)} tests, seed {options.seed}")
    results: list[tuple[Case, Outcome]] = []
    for case in cases:
        outcome = case.run()
        results.append((case, outcome))
        is_bad = outcome.kind in ("failed", "xpassed")
        if options.verbose or is_bad:
            print(report.line(case.id, outcome))
        if is_bad and options.fail_fast:
            break
    print(report.coverage([(case.op, case.dtype, outcome.kind) for case, outcome in results], uncovered))
    print(report.summary([outcome for _, outcome in results], len(cases)))
    return _exit_code(options.plugin, results)


def _exit_code(plugin: str, results: Sequence[tuple[Case, Outcome]]) -> int:
    kinds = {outcome.kind for _, outcome in results}
    required = {name.strip() for name in os.environ.get("REQUIRE_BACKEND", "").split(",")}
    if not results:
        print("agog-conformance: no test was collected, so nothing is proved.", file=sys.stderr)
        return 1
    if "unavailable" in kinds:
        reasons = dict.fromkeys(outcome.text for _, outcome in results if outcome.kind == "unavailable")
        for reason in reasons:
            print(f"agog-conformance: not available: {reason}", file=sys.stderr)
        if plugin in required:
            print(f"agog-conformance: REQUIRE_BACKEND names {plugin!r}, so this is a failure.", file=sys.stderr)
            return 1
    return 1 if kinds & {"failed", "xpassed"} else 0


if __name__ == "__main__":
    sys.exit(main())
