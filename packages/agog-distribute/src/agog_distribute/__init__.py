"""agog-distribute: programs of several processes, and the ops with which they compute together.

>>> import agog_distribute
>>> agog_distribute.rank(), agog_distribute.size()
(0, 1)
"""

from typing import Any as _Any

from agog_core.exports import later as _later
from agog_core.replicas import offer_processes as _offer_processes
from agog_distribute.collectives.ops import *
from agog_distribute.faults.deadline import *
from agog_distribute.processes.groups import *
from agog_distribute.saving import *

__version__ = "0.1.0"


def _of_run() -> _Any:
    from agog_distribute.strategies.processes import of_run

    return of_run()


_offer_processes(_of_run)
# Hooks import this package in every program that finds plugins: what trains waits until somebody asks for it.
__getattr__, __dir__ = _later(
    __name__,
    rooms=[
        "agog_distribute.gradients.averages",
        "agog_distribute.gradients.tape",
        "agog_distribute.optimizers.distributed",
        "agog_distribute.datasets",
        "agog_distribute.strategies.strategy",
        "agog_distribute.strategies.kinds",
        "agog_distribute.strategies.context",
        "agog_distribute.strategies.options",
    ],
)
