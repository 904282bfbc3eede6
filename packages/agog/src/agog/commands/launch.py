"""Launch: the command to run a program in several processes, on one machine or more."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec

import click

from agog.commands.tables import print_table

_NOTHING = (
    "agog launch: nothing connects processes here: `python -m pip install agog-distribute 'agog-mpi[mpich]'` brings "
    "what does."
)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-n", "size", type=click.IntRange(1), required=True, help="How many processes, the ranks.")
@click.option("--restarts", type=click.IntRange(0), default=0, help="How often all ranks start again after a bad end.")
@click.option("--mpiexec-options", "options", default="", help="More options of mpiexec, such as '-hosts a,b'.")
@click.option("-m", "is_module", is_flag=True, help="PROGRAM is the name of a module, not a file.")
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def launch(size: int, restarts: int, options: str, is_module: bool, program: str, arguments: tuple[str, ...]) -> None:
    """Run a program in several processes that compute together, by mpiexec.

    Each line of output has its rank before it. The ranks share the processors of a machine. A rank that goes wrong ends
    all, and at the end each rank's is told. With --restarts the program is run again, which restores its last
    checkpoint if it is written so. The exit status is that of the first rank with a bad end, 128 and the number for a
    signal.
    """
    if not all(map(find_spec, ("agog_distribute", "agog_mpi"))):
        raise click.ClickException(_NOTHING)
    from agog.commands.launcher.attempt import Attempt
    from agog.commands.launcher.runtime import find_runtime
    from agog.commands.launcher.screen import Screen
    from agog.commands.launcher.summary import TITLES, cause, summary

    runtime = find_runtime()
    if runtime is None:
        raise click.ClickException(
            "agog launch: there is no mpiexec beside Python or on the path: `python -m pip install 'agog-mpi[mpich]'` "
            "brings one."
        )
    command = [*(["-m"] if is_module else []), program, *arguments]
    for number in range(restarts + 1):
        screen = Screen(size, sys.stdout, sys.stderr)
        attempt = Attempt(runtime, size, shlex.split(options), command, screen)
        attempt.run()
        if attempt.status == 0:
            return
        print_table(TITLES, list(summary(attempt, screen)), errors=True)
        click.echo(cause(attempt, screen), err=True)
        if attempt.is_interrupted or number == restarts:
            sys.exit(attempt.status)
        click.echo(f"Restart {number + 1} of {restarts}.", err=True)
