"""Child processes: the same imports in processes that multiprocessing starts for an old program."""

from __future__ import annotations

import multiprocessing
import multiprocessing.spawn
from typing import Any


def follow() -> None:
    """Let processes that are started from now on begin with this package's import; those that are forked have it."""
    multiprocessing.set_forkserver_preload(["agog.commands.tensorflow1.activation", "__main__"])
    command_line = multiprocessing.spawn.get_command_line

    def with_import(**arguments: Any) -> list[str]:
        python, *options, flag, program, mark = command_line(**arguments)
        return [python, *options, flag, f"import agog.commands.tensorflow1.activation; {program}", mark]

    multiprocessing.spawn.get_command_line = with_import
