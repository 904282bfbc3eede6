"""App: ``tf.app.run``, which calls ``main`` with the arguments of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

__all__ = ["run"]

_HELP = ("help", "helpfull", "h")


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Call the program's main function, and end the program with what it returns.

    Flags that the program has defined with `tf.flags` or the package absl are taken out of the arguments first, and
    unknown ones are left. ``--help`` prints the flags with their help, unless the program has a flag of that name.

    Args:
        main: takes the arguments, the first of which is the program's name; None for the function ``main`` of the
            program's module.
        argv: the arguments; None for those of the command line.

    Raises:
        SystemExit: always, with what ``main`` returns.

    >>> run(lambda arguments: len(arguments), ["program", "--fast"])
    Traceback (most recent call last):
    SystemExit: 2
    """
    function = main or sys.modules["__main__"].main
    arguments = list(sys.argv if argv is None else argv)
    absl_flags = sys.modules.get("absl.flags")  # a program that has not imported it has no flags
    if absl_flags is not None:
        # Not `absl.app.run`: it defines flags of its own, such as ``log_dir``, which programs define too.
        arguments = absl_flags.FLAGS(arguments, known_only=True)
        asked = {argument.lstrip("-") for argument in arguments[1:] if argument.startswith("-")}
        if asked & {name for name in _HELP if name not in absl_flags.FLAGS}:
            print(absl_flags.FLAGS.get_help())
            sys.exit(0)
    sys.exit(function(arguments))
