"""The command ``agog``: what is installed, which kernel runs an op, and what checkpoints hold."""

from __future__ import annotations

import warnings
from importlib import import_module

import click

# The commands by their functions, each in a module of its own, which is imported when it is asked for.
COMMANDS = {
    "ckpt": "agog.commands.ckpt:ckpt",
    "diff-backends": "agog.commands.diff_backends:diff_backends",
    "doctor": "agog.commands.doctor:doctor",
    "explain": "agog.commands.explain:explain",
    "export": "agog.commands.export:export",
    "launch": "agog.commands.launch:launch",
    "new-plugin": "agog.commands.new_plugin:new_plugin",
    "ops": "agog.commands.ops:ops",
    "plugins": "agog.commands.plugins:plugins",
    "run": "agog.commands.run:run",
}


class Commands(click.Group):
    """The commands, none of which costs the others an import."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=Commands)
@click.version_option(package_name="agog")
@click.pass_context
def main(context: click.Context) -> None:
    """See what runs under your model."""
    if context.invoked_subcommand != "run":
        warnings.simplefilter("ignore")  # a plugin that failed is in the tables; it need not be warned of as well


if __name__ == "__main__":
    main(prog_name="agog")
