"""Collection: the tests of a plugin's kernels."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple

import agog_core as ag
from agog_core.dispatch.devices.backends import backends, device_types
from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.lookup import get_device
from agog_core.dispatch.kernels.candidates import why_unusable
from agog_core.dispatch.kernels.pairs import partners, why_alone, why_in_vain
from agog_core.dispatch.plugins.loader import Plugin, loader
from agog_core.errors import InvalidArgumentError
from agog_core.plugin import Kernel, Op, as_dtype
from agog_testing.checks import Check, checks_for
from agog_testing.checks.process_state import restored
from agog_testing.comparison import Accuracy
from agog_testing.conformance.cases import Case, ConformanceError
from agog_testing.conformance.compilers import PROGRAMS, compiled_calls, compiled_programs
from agog_testing.conformance.facts import facts_for
from agog_testing.conformance.implementation import Implementation
from agog_testing.kinds import dtypes_of_each_kind
from agog_testing.opinfo import OpInfo
from agog_testing.subject import Subject, Untaken, Violation

DEFAULT_SEED = 20181105


class Selection(NamedTuple):
    """The subject of the tests, see `collect`, and the plugin for the comparison of speed."""

    plugin: str
    ops: tuple[str, ...]
    skip: tuple[str, ...]
    dtypes: tuple[str, ...]
    seed: int
    faster_than: str | None
    quick: bool = False


def collect(
    plugin: str,
    ops: Collection[str] = (),
    dtypes: Collection[str] = (),
    seed: int = DEFAULT_SEED,
    skip: Collection[str] = (),
    quick: bool = False,
) -> list[Case]:
    """Collect the tests of a plugin's kernels.

    Args:
        plugin: the plugin's name.
        ops: the ops to test; all when it is empty.
        dtypes: the dtypes to test; all when it is empty.
        seed: the seed of the samples.
        skip: ops that are not to be tested.
        quick: take one sample of each kind, and one dtype of each kind.

    Returns:
        The tests, by op and dtype.

    Raises:
        ConformanceError: there is no such plugin, it failed to load, a choice names nothing, or the plugin's
            tolerances, expected failures or facts are about nothing that it has.
    """
    found = find_plugin(plugin)
    facts = facts_for(found)
    cases = [case for op in ops_of(found, facts) for case in cases_of(found, facts[op], seed, quick)]
    cases += compiled_programs(found, seed)
    _check_declarations(found, cases)
    known_ops = {base_op(case) for case in cases}
    for what, chosen, known in (
        ("op", {*ops, *skip}, known_ops),
        ("dtype", set(dtypes), {case.dtype for case in cases}),
    ):
        if unknown := sorted(chosen - known):
            raise ConformanceError(
                f"plugin {plugin!r} has no kernel for {what} {', '.join(unknown)}; it has them for "
                f"{', '.join(sorted(known)) or 'none'}."
            )
    wanted = (set(ops) or known_ops) - set(skip)
    return chosen_of([case for case in cases if base_op(case) in wanted], dtypes, quick)


def chosen_of(cases: Sequence[Case], dtypes: Collection[str], quick: bool) -> list[Case]:
    """The cases of some dtypes, and in a quick run of one dtype of each kind for each op, and of few programs."""
    cases = [case for case in cases if not dtypes or case.dtype in dtypes]
    if not quick:
        return cases
    of_op: dict[str, set[str]] = {}
    for case in cases:
        of_op.setdefault(base_op(case), set()).add(case.dtype)
    kept = {(op, dtype) for op, names in of_op.items() for dtype in dtypes_of_each_kind(names)}
    programs = [case for case in cases if base_op(case) == PROGRAMS]
    left_out = {case.id for case in programs if not case.check.startswith("part_0")}
    return [case for case in cases if (base_op(case), case.dtype) in kept and case.id not in left_out]


def not_covered(plugin: str) -> list[str]:
    """The ops for which a plugin has kernels and the kit has no facts; raises `ConformanceError` as `collect` does."""
    found = find_plugin(plugin)
    return sorted({kernel.op for kernel in found.kernels} - facts_for(found).keys())


def base_op(case: Case) -> str:
    """The op of a case, also of a plugin's second kernel for it."""
    return case.op.partition("#")[0]


def find_plugin(name: str) -> Plugin:
    """The plugin of a name, which is loaded and brings something to test; raises `ConformanceError` if none is."""
    plugins = {plugin.name: plugin for plugin in loader().plugins}
    if name not in plugins:
        raise ConformanceError(f"there is no plugin {name!r}; installed are {', '.join(sorted(plugins)) or 'none'}.")
    plugin = plugins[name]
    if plugin.skipped:
        raise ConformanceError(f"plugin {name!r} ({plugin.distribution}) is left out by AGOG_PLUGINS.")
    if plugin.failure is not None:
        raise ConformanceError(f"plugin {name!r} ({plugin.distribution}) failed to load: {plugin.failure}")
    if not (plugin.kernels or plugin.executors or plugin.compilers):
        raise ConformanceError(
            f"plugin {name!r} ({plugin.distribution}) brings no kernels, executors or compilers to test."
        )
    return plugin


def ops_of(plugin: Plugin, facts: Mapping[str, OpInfo]) -> list[str]:
    """The ops for which a plugin has kernels, or an executor or a compiler, and the kit has facts."""
    if plugin.executors or plugin.compilers:
        return sorted(facts)
    return sorted({kernel.op for kernel in plugin.kernels if kernel.on is None} & facts.keys())


def cases_of(plugin: Plugin, info: OpInfo, seed: int, quick: bool = False) -> Iterator[Case]:
    """The tests of a plugin's kernels, executors and compilers for one op."""
    yield from compiled_calls(plugin, info, seed)
    seen: Counter[str] = Counter()
    for kernel in plugin.kernels:
        if kernel.op != info.name or kernel.on is not None:  # the host's kernels are another plugin's
            continue
        try:
            device, why = device_of(kernel)
        except Exception as error:  # of the plugin
            device, why = None, None
            broken = _raising(kernel, f"{type(error).__name__}: {error}")
        for dtype in info.dtypes:
            if kernel.dtypes is not None and dtype not in kernel.dtypes:
                continue
            if device is not None and not _runs_on(device, info.op, dtype):
                continue
            seen[dtype] += 1
            op = info.name if seen[dtype] == 1 else f"{info.name}#{seen[dtype]}"
            if device is None:
                yield Case(op, dtype, "value", None, why) if why else Case(op, dtype, "value", broken)
                continue
            if (alone := why_alone(kernel, plugin, dtype, why_unusable)) is not None:
                yield Case(op, dtype, "pair", partial(_fail_alone, alone))
                continue
            implementation, accuracy = Implementation(kernel, plugin, device, dtype), Accuracy()
            subject = Subject(
                info=info,
                dtype=dtype,
                device=device,
                kernel=implementation,
                tolerances=plugin.conformance.tolerances,
                seed=seed,
                partner=_partner(kernel, plugin, device, dtype),
                several=None if kernel.several is None else implementation.several,
                fill=None if kernel.out is None else implementation.fill,
                keeping=implementation.leading if _keeps(kernel, plugin, info.op, dtype) else None,
                leading=implementation.leading if _is_taken_apart(kernel, info.op) else None,
                dtypes=None if kernel.dtypes is None else frozenset(kernel.dtypes),
                deterministic=kernel.deterministic,
                keeps_threads=kernel.pool,
                is_made=kernel.make is not None,
                accuracy=accuracy,
                quick=quick,
            )
            if (vain := why_in_vain(kernel, plugin, dtype)) is not None:
                yield Case(op, dtype, "reserve", partial(_fail_alone, vain))
            for check, test in checks_for(subject).items():
                reason = _expected_failure(plugin, f"{op}/{dtype}/{check}")
                # With what its plugin keeps, a gradient's kernel may take calls by its `reserve` alone.
                must_take = check == "value" and not (kernel.reserve is not None and info.op.taking is not None)
                run = _bound(test, subject, implementation, must_take)
                if quick:
                    run = _or_all(run, _bound(test, replace(subject, quick=False), implementation, must_take))
                yield Case(op, dtype, check, run, reason, accuracy, quick)


def device_of(kernel: Kernel) -> tuple[Device | None, str | None]:
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


def has_own_memory(plugin: Plugin) -> bool:
    """Whether a plugin has kernels for a device whose arrays do not live in host memory."""
    types = {kernel.device for kernel in plugin.kernels}
    return any(not backend.host_memory for backend in backends() if backend.device in types)


def _runs_on(device: Device, op: Op, dtype: str) -> bool:
    """Whether an op runs on a device at all: others run on the host, whatever kernels there are."""
    return device.holds(as_dtype(dtype)) and (device.backend.host_memory or not op.host)


def _is_taken_apart(kernel: Kernel, op: Op) -> bool:
    """Whether traced functions run a kernel in another form than as a whole."""
    return kernel.lower is not None and not (op.random or op.host or op.is_paired)


def _keeps(kernel: Kernel, plugin: Plugin, op: Op, dtype: str) -> bool:
    """Whether a kernel keeps a reserve that another one takes."""
    is_keeper = kernel.reserve is not None and op.keeping is not None
    return is_keeper and why_in_vain(kernel, plugin, dtype) is None


def _fail_alone(why: str) -> str:
    raise Violation("a kernel that keeps a reserve and the one that takes it come together", "all", "both", why)


def _partner(kernel: Kernel, plugin: Plugin, device: Device, dtype: str) -> tuple[str, Callable[..., Any]] | None:
    """The op and the function of the best kernel that forms a pair with another one, and can be used here."""
    found = [each for each in partners(kernel, plugin, dtype) if why_unusable(each) is None]
    return (found[0].op, Implementation(found[0], plugin, device, dtype)) if found else None


def _raising(kernel: Kernel, error: str) -> Callable[[], str]:
    def run() -> str:
        raise Violation("unavailable() says why a kernel cannot be used", "none", "a sentence or None", error)

    return run


def _bound(test: Check, subject: Subject, implementation: Implementation, must_take: bool) -> Callable[[], str]:
    def run() -> str:
        implementation.forget_counts()
        with others_preferred(implementation.plugin, subject.device), warnings.catch_warnings(), restored():
            # Infinities and NaN are results like others; a host library may warn of them, and that is no fault.
            warnings.simplefilter("ignore", RuntimeWarning)
            test(subject)
        return implementation.declined(must_take)

    return run


def _or_all(quick: Callable[[], str], whole: Callable[[], str]) -> Callable[[], str]:
    """A quick test, and the whole one where the kernel takes none of the quick one's calls."""

    def run() -> str:
        try:
            return quick()
        except Untaken:
            return whole()

    return run


@contextmanager
def others_preferred(plugin: Plugin, device: Device) -> Iterator[None]:
    """Let other ops run by the kernels of the device's own plugin, so that a kernel is blamed for its own op only."""
    others = [other for other in loader().plugins if other is not plugin]
    owners = [other.name for other in others if any(each.device == device.type for each in other.backends)]
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
            f"{', '.join(stale)}. Take the entries out, or correct them."
        )
    known = {kernel.op for kernel in plugin.kernels} | {f"{case.op}/{case.dtype}" for case in cases}
    if unknown := [key for key in plugin.conformance.tolerances if key not in known]:
        raise ConformanceError(
            f"plugin {plugin.name!r}: agog_conformance() gives tolerances for what it has no kernel for: "
            f"{', '.join(unknown)}."
        )
