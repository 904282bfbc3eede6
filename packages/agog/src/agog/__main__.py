"""The command ``agog``: what is installed, which kernel runs an op, and what checkpoints hold."""

from __future__ import annotations

import warnings

import click

from agog_core.dispatch import diagnosis, explanation, inventory
from agog_core.dispatch.devices import state
from agog_core.dispatch.loader import Plugin, loader
from agog_core.errors import OpError


class Commands(click.Group):
    """The commands; those on checkpoints are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, sorted."""
        return sorted([*super().list_commands(ctx), "ckpt"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, or None."""
        if cmd_name != "ckpt":
            return super().get_command(ctx, cmd_name)
        from agog.checkpoint_command import ckpt

        return ckpt


@click.group(cls=Commands)
@click.version_option(package_name="agog")
def main() -> None:
    """See what runs under your model."""
    warnings.simplefilter("ignore")  # a plugin that failed is in the tables; it need not be warned of as well


@main.command()
def plugins() -> None:
    """List the plugins: what each brings, and why one is left out."""
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for title in ("plugin", "distribution", "devices", "kernels", "state", "API", "load"):
        table.add_column(title, overflow="fold")
    for plugin in loader().plugins:
        table.add_row(
            plugin.name,
            plugin.distribution,
            _devices(plugin),
            str(len(plugin.kernels)),
            _state(plugin),
            _version(plugin),
            "" if plugin.skipped else f"{plugin.seconds * 1e3:.0f} ms",
        )
    found = diagnosis.problems()  # before the table, because it imports all kernels, which may print
    Console().print(table)
    for problem in found:
        click.echo(problem)


def _state(plugin: Plugin) -> str:
    return "left out by AGOG_PLUGINS" if plugin.skipped else "loaded" if plugin.failure is None else "failed"


def _version(plugin: Plugin) -> str:
    if plugin.version is None:
        return "" if plugin.skipped or plugin.failure is not None else "1 (it does not say)"
    return str(plugin.version)


def _devices(plugin: Plugin) -> str:
    found = []
    for backend in plugin.backends:
        count, why = state(backend)
        found += [f"{backend.device}:{index}" for index in range(count)] or [
            f"no {backend.device}: {why or 'none found'}"
        ]
    return ", ".join(found)


@main.command()
@click.argument("word", default="")
def ops(word: str) -> None:
    """List the ops: all, or those with WORD in their name or in what they do."""
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for title in ("op", "what it does", "inputs", "gradient for", "dtypes", "kernels"):
        table.add_column(title, overflow="fold")
    for entry in inventory.inventory():
        if word.lower() in f"{entry.name} {entry.sentence}".lower():
            lists = (entry.inputs, entry.differentiable, entry.dtypes, entry.kernels)
            table.add_row(entry.name, entry.sentence, *(", ".join(names) for names in lists))
    if not table.row_count:
        raise click.ClickException(f"no op has {word!r} in its name or in what it does; `agog ops` lists all.")
    Console().print(table)


@main.command()
@click.argument("op")
@click.option("--device", metavar="TYPE", help="A device type, such as cpu; all by default.")
@click.option("--dtype", metavar="DTYPE", help="A dtype, such as float64; float32 by default.")
def explain(op: str, device: str | None, dtype: str | None) -> None:
    """Say which kernel runs OP, and why; the exit status is 1 where it runs on no device that is asked for."""
    try:
        reports = explanation.reports(op, device, dtype)
    except (OpError, TypeError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    for report in reports:
        click.echo(report.text)
    if not any(report.runs for report in reports):
        raise SystemExit(1)


if __name__ == "__main__":
    main(prog_name="agog")
