"""Run: the command to run a program for TensorFlow 1 on agog."""

from __future__ import annotations

import sys
from contextlib import nullcontext

import click


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-m", "is_module", is_flag=True, help="PROGRAM is the name of a module, not a file.")
@click.option("--report", is_flag=True, help="Say at the end what the program asked for that agog has not.")
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(is_module: bool, report: bool, program: str, arguments: tuple[str, ...]) -> None:
    """Run a program that imports TensorFlow 1, unchanged, on agog.

    PROGRAM is a file, or with -m a module, such as `agog run -m pytest tests`. In its process `import tensorflow`, and
    what is below it, gives agog; nothing is installed, and other processes are not touched.
    """
    import agog.commands.tensorflow1.activation
    from agog.commands.tensorflow1 import missing_names
    from agog.commands.tensorflow1.program import run_module, run_script

    with missing_names.reported() if report else nullcontext():
        status = (run_module if is_module else run_script)(program, arguments)
    sys.exit(status)
