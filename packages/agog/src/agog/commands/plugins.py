"""Plugins: the command to list the plugins with their contents and problems."""

from __future__ import annotations

import json
from typing import Any

import click

from agog.commands.tables import print_table
from agog_core.compiler import Compiler, Executor
from agog_core.dispatch.devices.lookup import state
from agog_core.dispatch.plugins.loader import Plugin, loader
from agog_core.dispatch.plugins.ranking import why_unusable
from agog_core.dispatch.reports import diagnosis

_TITLES = ("plugin", "distribution", "devices", "kernels", "executors", "compilers", "state", "API", "load")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def plugins(as_json: bool) -> None:
    """List the plugins: what each brings, and what is wrong with it."""
    found = [_facts(plugin) for plugin in loader().plugins]
    problems = diagnosis.problems()  # before all output, because it imports the kernels, which may print
    if as_json:
        click.echo(json.dumps({"plugins": found, "problems": problems}, indent=2))
        return
    print_table(_TITLES, [_row(facts) for facts in found])
    for problem in problems:
        click.echo(problem)


def _facts(plugin: Plugin) -> dict[str, Any]:
    is_loaded = plugin.failure is None and not plugin.skipped
    return {
        "plugin": plugin.name,
        "distribution": plugin.distribution,
        "devices": [name for backend in plugin.backends for name in _devices(backend)],
        "kernels": len(plugin.kernels),
        "executors": [_shown(executor) for executor in plugin.executors],
        "compilers": [_shown(compiler) for compiler in plugin.compilers],
        "state": "left out by AGOG_PLUGINS" if plugin.skipped else "loaded" if is_loaded else "failed",
        "failure": plugin.failure,
        "api": (plugin.version or 1) if is_loaded else plugin.version,
        "says_api": plugin.version is not None,
        "seconds": None if plugin.skipped else plugin.seconds,
    }


def _devices(backend: Any) -> list[str]:
    count, why = state(backend)
    return [f"{backend.device}:{index}" for index in range(count)] or [f"no {backend.device}: {why or 'none found'}"]


def _shown(what: Executor | Compiler) -> str:
    why = why_unusable(what)
    return f"{what.name} for {what.device}" if why is None else f"no {what.name}: {why}"


def _row(facts: dict[str, Any]) -> tuple[str, ...]:
    api = "" if facts["api"] is None else str(facts["api"]) + ("" if facts["says_api"] else " (it does not say)")
    load = "" if facts["seconds"] is None else f"{facts['seconds'] * 1e3:.0f} ms"
    devices, executors, compilers = (", ".join(facts[name]) for name in ("devices", "executors", "compilers"))
    kernels = str(facts["kernels"])
    return facts["plugin"], facts["distribution"], devices, kernels, executors, compilers, facts["state"], api, load
