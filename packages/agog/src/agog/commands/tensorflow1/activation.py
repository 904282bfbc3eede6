"""Activation: importing this module lets the process find TensorFlow's modules in agog."""

from __future__ import annotations

import multiprocessing
import multiprocessing.spawn
from typing import Any

from agog.commands.tensorflow1.advice import teach
from agog.commands.tensorflow1.finder import activate
from agog.commands.tensorflow1.restored_names import put_back


def follow() -> None:
    """Let processes that are started from now on begin with this package's import; those that are forked have it."""
    multiprocessing.set_forkserver_preload(["agog.commands.tensorflow1.activation", "__main__"])
    command_line = multiprocessing.spawn.get_command_line

    def with_import(**arguments: Any) -> list[str]:
        python, *options, flag, program, mark = command_line(**arguments)
        return [python, *options, flag, f"import agog.commands.tensorflow1.activation; {program}", mark]

    multiprocessing.spawn.get_command_line = with_import


activate()
put_back()
teach()
follow()
