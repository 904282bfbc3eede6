"""Ops: the command to list the ops, or to describe one."""

from __future__ import annotations

import json
from typing import Any

import click

from agog.commands.tables import print_table
from agog_core.dispatch.kernels.candidates import candidates_of_all_ops
from agog_core.dispatch.op import all_ops
from agog_core.dispatch.reports import anatomy, inventory

_TITLES = ("op", "what it does", "inputs", "gradient for", "dtypes", "kernels")


@click.command()
@click.argument("word", default="")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def ops(word: str, as_json: bool) -> None:
    """List the ops: all, or those with WORD in their name or in what they do; of one that WORD names, show all."""
    brought = candidates_of_all_ops()  # first, because plugins bring ops too
    if word in all_ops():
        click.echo(json.dumps(_facts(word, brought), indent=2) if as_json else anatomy.anatomy(word))
        return
    found = [e for e in inventory.inventory() if word.lower() in f"{e.name} {e.sentence}".lower()]
    if not found:
        raise click.ClickException(f"no op has {word!r} in its name or in what it does; `agog ops` lists all.")
    if as_json:
        click.echo(json.dumps([entry._asdict() for entry in found], indent=2))
        return
    print_table(
        _TITLES,
        [(e.name, e.sentence, *map(", ".join, (e.inputs, e.differentiable, e.dtypes, e.kernels))) for e in found],
    )


def _facts(name: str, brought: dict[str, Any]) -> dict[str, Any]:
    """What is known of one op, for programs."""
    op = all_ops()[name]
    entry = next(entry for entry in inventory.inventory() if entry.name == name)
    attributes = anatomy.attributes(op, [candidate.kernel for candidate in brought.get(name, [])])
    return {
        **entry._asdict(),
        "dtypes": sorted(dtype.name for dtype in op.dtypes),
        "attributes": attributes,
        "updates": op.updates,
        "effect": op.effect,
        "elementwise": op.elementwise,
        "host": op.host,
    }
