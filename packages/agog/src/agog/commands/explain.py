"""Explain: the command to show the kernel of an op, or the compilers of a traced function, with reasons."""

from __future__ import annotations

import json
from typing import Any

import click

from agog_core.dispatch.devices.backends import device_types
from agog_core.dispatch.kernels.candidates import Candidate
from agog_core.dispatch.op import all_ops
from agog_core.dispatch.plugins.compilers import explain_compilers
from agog_core.dispatch.plugins.executors import explain_executors
from agog_core.dispatch.reports import explanation
from agog_core.errors import OpError


@click.command()
@click.argument("op", required=False)
@click.option("--device", metavar="TYPE", help="A device type, such as cpu; all by default.")
@click.option("--dtype", metavar="DTYPE", help="A dtype, such as float64; float32 by default.")
@click.option("--compilers", is_flag=True, help="Say what runs traced functions, in place of an op's kernels.")
@click.option("--function", metavar="MODULE:NAME", help="Say what runs each op of a traced function.")
@click.option(
    "--argument",
    "arguments",
    multiple=True,
    metavar="SPEC",
    help="Of the function, such as float32[32,784]; once for each. Without any, the traces that the module makes are "
    "shown, or that for the input signature.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def explain(
    op: str | None,
    device: str | None,
    dtype: str | None,
    compilers: bool,
    function: str | None,
    arguments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say which kernel runs OP, and why; the exit status is 1 where it runs on no device that is asked for.

    Of a layer, such as conv2d, say so of each op that it runs when it is called.

    With --function, say which compiler or executor runs each op of a traced function, and why that is no compiler's.
    MODULE is imported, and the function is called with zeros where there is no trace yet.
    """
    if function is not None:
        from agog.commands.explained_function import explained_function

        click.echo(explained_function(function, arguments))
        return
    if compilers:
        for name in [device] if device else device_types():
            click.echo(explain_executors(name))
            click.echo(explain_compilers(name))
        return
    if op is None:
        raise click.UsageError("Name an op, such as matmul, or give --compilers or --function.")
    try:
        reports = _reports(op, device, dtype, as_json)
    except (OpError, TypeError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps([_facts(report) for report in reports], indent=2))
    else:
        for report in reports:
            click.echo(report.text)
    if not any(report.runs for report in reports):
        raise SystemExit(1)


def _reports(name: str, device: str | None, dtype: str | None, as_json: bool) -> list[explanation.Report]:
    """The reports of an op, or of the ops that a layer runs, which are named first."""
    try:
        return explanation.reports(name, device, dtype)
    except ValueError:
        if name in all_ops():
            raise
        from agog.commands.explained_layer import ops_of_layer

        found = ops_of_layer(name)
        if found is None or not found[1]:
            raise
    layer, ops = found
    if not as_json:
        click.echo(f"{name} is no op, but the layer tf.keras.layers.{layer}; called, it runs {', '.join(ops)}.")
    return [report for op in ops for report in explanation.reports(op, device, dtype)]


def _facts(report: explanation.Report) -> dict[str, Any]:
    return {
        "op": report.op,
        "device": report.device,
        "dtype": report.dtype,
        "runs": report.runs,
        "chain": [_candidate(candidate) for candidate in report.usable],
        "rejected": [{**_candidate(candidate), "why": why} for candidate, why in report.rejected],
        "text": report.text,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    kernel = candidate.kernel
    return {
        "plugin": candidate.plugin.name,
        "distribution": candidate.plugin.distribution,
        "priority": kernel.priority,
        "dtypes": None if kernel.dtypes is None else sorted(kernel.dtypes),
        "when": kernel.when,
        "source": kernel.source,
    }
