"""End: all processes of a run come to it together, or else an error on all says who has come alone.

A process that has ended would wait in the engine's own end for the others, and they in a collective for it.
"""

from __future__ import annotations

import atexit
import os
from typing import TYPE_CHECKING

from agog_core.errors import AbortedError
from agog_core.processes import connect
from agog_distribute.faults.agreement import agree_on_end
from agog_distribute.faults.watch import end_all, watch
from agog_distribute.saving import Together

if TYPE_CHECKING:
    from agog_distribute.processes.groups import Group


def end_together(everybody: Group) -> None:
    """Save with the other processes and watch them from now on, and wait for them at the end of the program."""
    connect(Together(everybody))
    watching, process = watch(everybody.communicator), os.getpid()

    def end() -> None:
        if os.getpid() != process:  # forked from this one
            return
        try:
            agree_on_end(everybody)
        except AbortedError as error:
            end_all(everybody.communicator, f"Rank {everybody.rank} ends all processes: {error}")
        watching.end()

    atexit.register(end)
