"""Card: what is run on a machine with an NVIDIA GPU, in stages: ``python tests/gpu/card.py A B --out FOLDER``.

Each stage takes less than ten minutes and needs neither nox nor a package index: agog, CuPy and pytest are installed.
Each task is a process of its own, whose output is in FOLDER as it comes, so that a fault of the GPU ends one task.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CASES = ROOT / "plugins" / "agog-cuda-cupy" / "tests" / "host"
SUITES = ("core", "layers", "optimizers", "data", "checkpoint", "summary", "training", "testing")
KIT = "agog_testing.conformance"
SHORT = ("bool", "int8", "int16", "uint8", "uint16", "uint32", "uint64")

_ON_CARD = {"AGOG_HOST_CASES": "card"}
# pytest-benchmark, where it is installed, ends each run by several processes.
_PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:benchmark")


class Task(NamedTuple):
    """A program of a stage.

    Args:
        name: its name, and that of the file with its output.
        command: the program and its arguments; ``{out}`` is the folder of results, ``{jobs}`` how many processes.
        seconds: the most that it may take.
        env: environment variables for it.
    """

    name: str
    command: tuple[str, ...]
    seconds: int = 300
    env: Mapping[str, str] = {}


def _probe(name: str, *arguments: str, seconds: int = 120) -> Task:
    return Task(name, (sys.executable, str(HERE / "probes.py"), name, *arguments), seconds)


def _pytest(name: str, *arguments: str | Path, seconds: int = 300, env: Mapping[str, str] | None = None) -> Task:
    command = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:benchmark",
        "-o",
        "faulthandler_timeout=120",
    )
    results = f"--junitxml={{out}}/{name}.xml"
    return Task(name, (*command, results, *map(str, arguments)), seconds, env or {})


def _kit(name: str, *arguments: str, seconds: int = 290) -> Task:
    command = (sys.executable, "-m", KIT, "cuda-cupy", "--jobs", "{jobs}", "--timeout", "240")
    return Task(name, (*command, "--json", f"{{out}}/{name}.json", *arguments), seconds)


def _of(*dtypes: str) -> list[str]:
    return [part for dtype in dtypes for part in ("--dtype", dtype)]


def _sanitizer(tool: str) -> Task:
    command = ("compute-sanitizer", "--tool", tool, "--target-processes", "all", "--error-exitcode", "9")
    return Task(tool, (*command, *_PYTEST, str(CASES)), 550, _ON_CARD)


# By stage: groups of tasks, one group after another; the tasks of a group run at once.
STAGES: dict[str, tuple[tuple[Task, ...], ...]] = {
    "A": (
        (_probe("versions"),),
        (_probe("sources"),),
        (
            _pytest("cases", CASES, "-n", "{jobs}", env=_ON_CARD),
            _probe("precision"),
            _pytest("trainings", HERE / "test_gpu_trainings.py"),
        ),
        (_probe("launches"),),
        (_probe("host_work"),),
    ),
    "B": (
        (_pytest("gpu", HERE),),
        (Task("speeds", (sys.executable, str(HERE / "speeds.py"), "{out}/speeds.json")),),
        (Task("speeds-tf32", (sys.executable, str(HERE / "speeds.py"), "{out}/speeds-tf32.json", "--tf32")),),
        (_probe("overlap"),),
        (_probe("profile"),),
    ),
    "C": ((_kit("kit-float32", *_of("float32", "int32")),),),
    "H": (
        (
            _probe("denormals", "float32", seconds=290)._replace(name="denormals-float32"),
            _probe("denormals", "bfloat16", "float16", "float64", seconds=290)._replace(name="denormals-others"),
        ),
        (_probe("long_sums"),),
    ),
    "D": ((_sanitizer("memcheck"), _sanitizer("racecheck"), _sanitizer("initcheck")),),
    "E": ((_kit("kit-doubles", *_of("float64", "int64")),), (_kit("kit-halves", *_of("float16", "bfloat16")),)),
    "F": ((_kit("kit-complex", *_of("complex64", "complex128")),), (_kit("kit-integers", *_of(*SHORT)),)),
    "G": (
        (
            _pytest(
                "suites",
                *(ROOT / "packages" / f"agog-{name}" / "tests" for name in SUITES),
                *("-n", "{jobs}", "-p", "agog_testing.pytest_plugin", "--agog-device=gpu"),
                seconds=580,
            ),
        ),
    ),
}


def run(task: Task, out: Path, jobs: int, stage: str) -> dict[str, Any]:
    """Run a task; its output goes to a file, and what came of it is returned."""
    command = [part.replace("{out}", str(out)).replace("{jobs}", str(jobs)) for part in task.command]
    env = os.environ | {"PYTHONUNBUFFERED": "1", "OPENBLAS_NUM_THREADS": "1"} | dict(task.env)
    start = time.monotonic()
    log = out / f"{stage}-{task.name}.txt"
    with log.open("w") as file:
        try:
            code = subprocess.run(
                command, env=env, stdout=file, stderr=subprocess.STDOUT, timeout=task.seconds
            ).returncode
        except subprocess.TimeoutExpired:
            code = None
        except OSError as error:
            file.write(f"{error}\n")
            code = -1
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    found = {"stage": stage, "name": task.name, "code": code, "seconds": round(time.monotonic() - start, 1)}
    found["last"] = lines[-1][:300] if lines else ""
    how = "ok" if code == 0 else "over its time" if code is None else f"exit code {code}"
    print(f"{stage} {task.name}: {how} in {found['seconds']} s: {found['last']}", flush=True)
    return found


def stage_results(names: Sequence[str], out: Path, jobs: int, ops: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """What came of each task of some stages, in their order; kits test some ops, or all."""
    chosen = tuple(part for op in ops for part in ("--op", op))
    for stage in names:
        for tasks in STAGES[stage]:
            group = [task._replace(command=(*task.command, *chosen)) if KIT in task.command else task for task in tasks]
            with ThreadPoolExecutor(len(group)) as pool:
                yield from pool.map(partial(run, out=out, jobs=jobs, stage=stage), group)


def main() -> int:
    """Run stages, and write what came of them; returns 1 if anything failed."""
    parser = argparse.ArgumentParser(description="Run agog on a card, stage by stage.")
    parser.add_argument("stages", nargs="+", choices=STAGES)
    parser.add_argument("--out", type=Path, required=True, help="the folder of results")
    parser.add_argument("--op", action="append", default=[], help="what kits test, instead of all ops")
    parser.add_argument("--jobs", type=int, default=min(12, os.cpu_count() or 1), help="how many processes at once")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    found = []
    for result in stage_results(options.stages, options.out, options.jobs, options.op):
        found.append(result)
        (options.out / f"card-{''.join(options.stages)}.json").write_text(json.dumps(found, indent=2))
    return int(any(result["code"] != 0 for result in found))


if __name__ == "__main__":
    sys.exit(main())
