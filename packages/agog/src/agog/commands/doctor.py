"""Doctor: the command to check Python, packages, devices, plugins and BLAS."""

from __future__ import annotations

import difflib
import json
import os
import platform
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any, NamedTuple

import click

import agog_core as ag
from agog.commands import speed
from agog_core.dispatch.devices.lookup import FAILED, state
from agog_core.dispatch.kernels.candidates import candidates
from agog_core.dispatch.op import all_ops
from agog_core.dispatch.plugins.backend import Backend
from agog_core.dispatch.plugins.loader import loader
from agog_core.dispatch.reports import diagnosis
from agog_core.errors import describe_error

_LIBRARIES = (
    *("numpy", "scipy", "ml_dtypes", "opt_einsum", "pluggy", "safetensors", "tensorboardX", "pyarrow", "pillow"),
    *("protobuf", "google-crc32c", "cupy", "cupy-cuda12x", "cupy-cuda13x", "nvidia-cudnn-frontend", "llvmlite"),
)
# What agog reads of the environment, with what each does.
VARIABLES = {
    "AGOG_CACHE_DIR": "where agog-cpu-llvm keeps compiled code",
    "AGOG_CHECK": "every call of a kernel is checked, which is slow",
    "AGOG_COMPILE": "functions that tf.function has wrapped are compiled before their traces run first",
    "AGOG_DISTRIBUTE_DEADLINE": "how many seconds a process waits for the others in a collective",
    "AGOG_EAGER": "functions that tf.function has wrapped are called op by op",
    "AGOG_MALLOPT": "whether large buffers are kept for the next op",
    "AGOG_NUM_THREADS": "how many threads a kernel may compute with",
    "AGOG_PLUGINS": "only these plugins are loaded",
    "AGOG_PREFER": "the kernels of these plugins run before all others",
    "AGOG_STRICT_PLUGINS": "a plugin that fails to load is an error",
}
_FOREIGN = re.compile(r"(OPENBLAS|OMP|MKL|BLIS|VECLIB|NUMEXPR|CUDA|CUPY|NPY)_\w+")
# The data and switches of agog's own tests, which start with its name too.
OF_TESTS = {
    *(
        "AGOG_CONFORMANCE",
        "AGOG_CUDA",
        "AGOG_CUPY",
        "AGOG_DAMAGED_CHECKPOINTS",
        "AGOG_DATA_DIR",
        "AGOG_ENDURANCE",
        "AGOG_FUZZ",
        "AGOG_HOST_CASES",
        "AGOG_INTERRUPTS",
    ),
    *("AGOG_KILLS", "AGOG_MATRIX", "AGOG_NOTEBOOK", "AGOG_RANDOM_GRAPHS", "AGOG_RANDOM_PROGRAMS", "AGOG_RANDOM_SEED"),
    "AGOG_RANKS",
    "AGOG_RANK_KILLS",
    *("AGOG_RANDOM_SUBGRAPHS", "AGOG_SCREENSHOTS", "AGOG_SITE", "AGOG_TENSORFLOW_MODELS", "AGOG_TORCH"),
}


class Report(NamedTuple):
    """What the command found: facts by section, what costs speed or may surprise, and what does not work."""

    facts: dict[str, dict[str, Any]]
    warnings: list[str]
    broken: list[str]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs and for reports of bugs.")
def doctor(as_json: bool) -> None:
    """Say what is installed and what works here; exit with 1 where something is broken."""
    report = examine()
    if as_json:
        click.echo(json.dumps(report._asdict(), indent=2))
    else:
        for title, facts in report.facts.items():
            click.echo(f"{title}:" if facts else f"{title}: nothing")
            for name, value in facts.items():
                click.echo(f"  {name}: {value}")
        for warning in report.warnings:
            click.echo(f"WARNING: {warning}")
        for fault in report.broken:
            click.echo(f"BROKEN: {fault}")
        click.echo("Something is broken; see above." if report.broken else "All that is installed works.")
    if report.broken:
        raise SystemExit(1)


def examine() -> Report:
    """Look at everything, in the order in which one thing needs the other."""
    report = Report({}, [], [])
    for title, look in _SECTIONS.items():
        report.facts[title] = dict(look(report))
    return report


def _python(_: Report) -> Iterator[tuple[str, Any]]:
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    yield platform.python_implementation(), platform.python_version() + ("" if gil else ", free-threaded")
    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}, {os.cpu_count()} processors"


def _packages(report: Report) -> Iterator[tuple[str, str]]:
    members = {
        distribution.name: distribution
        for distribution in metadata.distributions()
        if re.fullmatch(r"agog(-.+)?", distribution.name or "")
    }
    for name, distribution in sorted(members.items()):
        yield name, distribution.version
        for text in distribution.requires or ():
            if wanted := re.match(r"(agog[\w-]*)(?:\[[^]]*\])?==([\w.]+)$", text):
                there = members.get(wanted[1])
                if there is None:
                    report.broken.append(
                        f"{name} {distribution.version} needs {wanted[1]} {wanted[2]}, which is not installed: "
                        f"pip install {wanted[1]}=={wanted[2]}."
                    )
                elif there.version != wanted[2]:
                    report.broken.append(
                        f"{name} {distribution.version} needs {wanted[1]} {wanted[2]}, and {there.version} is "
                        f"installed: pip install {wanted[1]}=={wanted[2]}."
                    )
    for name in _LIBRARIES:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue


def _plugins(report: Report) -> Iterator[tuple[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one that failed is among the faults
        plugins = loader().plugins
    for plugin in plugins:
        if plugin.failure is not None:
            state = "FAILED"
        elif plugin.skipped:
            state = "left out by AGOG_PLUGINS"
        else:
            brought = [f"executor {each.name}" for each in plugin.executors]
            brought += [f"compiler {each.name}" for each in plugin.compilers]
            state = ", ".join([f"{len(plugin.kernels)} kernels", *brought])
        time = "" if plugin.skipped else f", loaded in {plugin.seconds * 1e3:.0f} ms"
        yield plugin.name, f"{plugin.distribution}, {state}{time}"
    report.broken.extend(diagnosis.problems())


def _devices(report: Report) -> Iterator[tuple[str, str]]:
    backends = [backend for plugin in loader().plugins for backend in plugin.backends]
    if not backends:
        report.broken.append("no plugin brings a device: pip install agog-cpu-numpy.")
    for backend in backends:
        count, why = state(backend)
        if why is not None and why.startswith(FAILED):  # it is among the problems of plugins
            yield backend.device, "FAILED"
        elif not count:
            yield backend.device, f"not usable: {why or 'none found'}"
        for index in range(count):
            yield f"{backend.device}:{index}", _device(report, backend, index)


def _device(report: Report, backend: Backend, index: int) -> str:
    name = f"{backend.device}:{index}"
    try:
        _compute(name)
    except Exception as error:
        report.broken.append(f"device {name}: a + b with its gradient fails: {describe_error(error)}")
        return "FAILED"
    ops = all_ops()
    served = sum(any(candidates(op.name, backend.device, dtype.name)[0] for dtype in op.dtypes) for op in ops.values())
    return f"works, kernels for {served} of {len(ops)} ops"


def _compute(device: str) -> None:
    """Run a first program on a device, and hold it against its answer."""
    with ag.device(device):
        a, b = ag.constant([1.0, 2.0]), ag.constant([3.0, 5.0])
        with ag.GradientTape() as tape:
            tape.watch(a)
            total = ag.reduce_sum(ag.add(a, b) * a)
        answer = total.numpy().item(), tape.gradient(total, a).numpy().tolist()
    if answer != (18.0, [5.0, 9.0]):
        raise ArithmeticError(f"expected 18.0 and [5.0, 9.0], got {answer[0]} and {answer[1]}")


def _blas(report: Report) -> Iterator[tuple[str, str]]:
    import numpy  # its import loads the BLAS, which is looked for in the process
    from threadpoolctl import threadpool_info

    from agog_core.plugin import threads

    for pool in threadpool_info():
        core = f", core type {pool['architecture']}" if pool.get("architecture") else ""
        yield pool["internal_api"], f"{pool.get('version') or 'no version'}, {pool['num_threads']} threads{core}"
    yield "threads", f"{threads.count()}, owned by {threads.owner() or 'nobody'}"
    if hasattr(os, "getloadavg"):
        yield "load", _load(report, os.getloadavg()[0], os.cpu_count() or 1)
    if pinned := os.environ.get("OPENBLAS_CORETYPE"):
        report.warnings.append(
            f"OPENBLAS_CORETYPE={pinned} pins the processor that OpenBLAS computes for; where it is an older one than "
            "yours, matrix products and what is made of them take up to twice as long. Unset it."
        )


def _load(report: Report, load: float, processors: int) -> str:
    """How busy the processors are, and what that does to OpenBLAS's threads, which spin as they wait."""
    facts = f"{load:.1f} programs on {processors} processors in the last minute"
    speed.threads(report.warnings, processors, load)
    if load < processors / 2:
        return facts
    names = [name for name in ("AGOG_NUM_THREADS", "OPENBLAS_NUM_THREADS") if os.environ.get(name, "").isdigit()]
    if not names:
        return f"{facts}; agog lets fewer threads compute while others need processors"
    number = os.environ[names[0]]
    if int(number) > 1:
        report.warnings.append(
            f"{names[0]}={number} on busy processors ({load:.1f} programs on {processors}): products can take ten "
            "times as long as with one thread. Unset it, so that agog chooses, or set it to 1."
        )
    return facts


def _speed(report: Report) -> Iterator[tuple[str, str]]:
    yield "compilers", speed.compilers(report.warnings)
    yield from (("card", card) for card in speed.cards(report.warnings))
    yield "denormal numbers", speed.denormals(report.warnings)


def _environment(report: Report) -> Iterator[tuple[str, str]]:
    for name, value in sorted(os.environ.items()):
        if name in VARIABLES:
            yield name, f"{value!r} ({VARIABLES[name]})"
        elif _FOREIGN.fullmatch(name):
            yield name, repr(value)
        elif name.startswith("AGOG_") and name not in OF_TESTS:
            close = difflib.get_close_matches(name, VARIABLES, 1)
            advice = f"; did you mean {close[0]}?" if close else f". It reads {', '.join(VARIABLES)}."
            report.warnings.append(f"agog reads no environment variable {name}{advice}")


_SECTIONS: dict[str, Callable[[Report], Iterator[tuple[str, Any]]]] = {
    "Python": _python,
    "packages": _packages,
    "plugins": _plugins,
    "devices": _devices,
    "BLAS": _blas,
    "speed": _speed,
    "environment": _environment,
}
