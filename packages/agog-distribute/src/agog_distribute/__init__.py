"""agog-distribute: programs of several processes, and the ops with which they compute together.

>>> import agog_distribute
>>> agog_distribute.rank(), agog_distribute.size()
(0, 1)
"""

from typing import TYPE_CHECKING
from typing import Any as _Any

from agog_core.exports import later as _later
from agog_core.replicas import offer_processes as _offer_processes

if TYPE_CHECKING:
    from agog_distribute.collectives.ops import *
    from agog_distribute.datasets import *
    from agog_distribute.faults.deadline import *
    from agog_distribute.gradients.averages import *
    from agog_distribute.gradients.tape import *
    from agog_distribute.optimizers.distributed import *
    from agog_distribute.processes.groups import *
    from agog_distribute.saving import *
    from agog_distribute.strategies.context import *
    from agog_distribute.strategies.kinds import *
    from agog_distribute.strategies.options import *
    from agog_distribute.strategies.strategy import *

__version__ = "0.1.0"


def _of_run() -> _Any:
    from agog_distribute.strategies.processes import of_run

    return of_run()


_offer_processes(_of_run)
# Every program that finds plugins imports this package with its hooks: all else waits until somebody asks for it.
__getattr__, __dir__ = _later(
    __name__,
    rooms=[
        "agog_distribute.processes.groups",
        "agog_distribute.faults.deadline",
        "agog_distribute.collectives.ops",
        "agog_distribute.saving",
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
