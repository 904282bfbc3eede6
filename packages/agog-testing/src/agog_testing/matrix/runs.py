"""Runs: the suites and the kit on each backend, each in a process of its own, whose results go to a folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agog_testing.conformance.workers import PATIENT
from agog_testing.matrix import report

SUITE = Path(__file__).parent / "device_suite.py"
"""What every device has to do in programs: placement, variables, gradients, training, random numbers."""

_NOTHING_SELECTED = 5  # pytest's exit code


class Plan(NamedTuple):
    """What is run.

    Args:
        folder: where the results and the report go; what it held before is gone.
        plugin: the plugin whose backend is tested; None for those of all plugins.
        name: the name of that backend in the report, if it is not the plugin's.
        suites: files and folders of tests that run on each device, beside `SUITE`.
        pytest: options of pytest.
        kit: options of the conformance kit.
    """

    folder: Path
    plugin: str | None = None
    name: str | None = None
    suites: tuple[Path, ...] = ()
    pytest: tuple[str, ...] = ()
    kit: tuple[str, ...] = ()


def run(plan: Plan) -> int:
    """Run the plan, write the report, and return 0, or 1 if something has failed or a required backend is absent."""
    found = _backends(plan)
    for backend in found:
        state = f"absent: {backend['absent']}" if backend["absent"] else f"present, of device type {backend['device']}"
        print(f"matrix: {backend['plugin']}: {state}", flush=True)
    required = {name.strip() for name in os.environ.get("REQUIRE_BACKEND", "").split(",") if name.strip()}
    present = {str(backend["plugin"]): str(backend["device"]) for backend in found if backend["absent"] is None}
    if missing := sorted(required - present.keys()):
        print(f"matrix: REQUIRE_BACKEND names {', '.join(missing)}, which is absent; see above.", file=sys.stderr)
        return 1
    if not present:
        print("matrix: no backend is present, so nothing is proved.", file=sys.stderr)
        return 1
    shutil.rmtree(plan.folder, ignore_errors=True)
    plan.folder.mkdir(parents=True)
    (plan.folder / "backends.json").write_text(json.dumps(found), encoding="utf-8")
    failed = [name for name, device in present.items() if not _passes(plan, name, device)]
    report.write(plan.folder)
    print(f"matrix: the report is in {plan.folder / 'matrix.md'}, and beside it as JSON and JUnit's XML.")
    if failed:
        print(f"matrix: {', '.join(failed)} failed; see the report.", file=sys.stderr)
    return 1 if failed else 0


def _backends(plan: Plan) -> list[dict[str, str | None]]:
    """The backends to test, under their names in the report, and those that are required and nowhere."""
    command = [sys.executable, "-m", "agog_testing.matrix.backends"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: list[dict[str, str | None]] = json.loads(done.stdout)
    wanted = os.environ.get("REQUIRE_BACKEND", "").split(",") if plan.plugin is None else [plan.plugin]
    if plan.plugin is not None:
        found = [backend for backend in found if backend["plugin"] == plan.plugin]
    for plugin in sorted({name.strip() for name in wanted if name.strip()} - {str(each["plugin"]) for each in found}):
        found.append({"plugin": plugin, "device": None, "absent": "no installed plugin of this name has a device"})
    return [{**backend, "plugin": plan.name or backend["plugin"]} for backend in found]


def _passes(plan: Plan, name: str, device: str) -> bool:
    """Whether a backend passes the suites and the kit; the kit runs also where a suite has failed."""
    results = plan.folder / name
    suites = [SUITE, *(suite.resolve() for suite in plan.suites)]
    in_pytest = ("-p", "agog_testing.pytest_plugin", f"--agog-device={device}", f"--junitxml={results}.suites.xml")
    in_kit = (plan.plugin or name, "--json", f"{results}.json", "--junit", f"{results}.kit.xml", *plan.kit)
    # The plugin's own settings of pytest are where the command is called.
    of_suites = _run("pytest", *map(str, suites), *in_pytest, f"--rootdir={Path.cwd()}", *plan.pytest)
    of_kit = _run("agog_testing.conformance", *in_kit)
    is_selection = of_suites == _NOTHING_SELECTED and bool(plan.pytest)
    return (of_suites == 0 or is_selection) and of_kit == 0


def _run(module: str, *arguments: str) -> int:
    """Run a module, in an empty folder, so that nothing but what is installed is imported; returns its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        command: Sequence[str] = [sys.executable, "-m", module, *arguments]
        return subprocess.run(command, cwd=folder, env={**PATIENT, **os.environ}, check=False).returncode
