"""``tf.distribute``: programs of several processes, by agog-distribute, which is installed beside agog."""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_core.exports import later as _later

try:
    import agog_distribute as _agog_distribute
except ModuleNotFoundError as error:
    if error.name != "agog_distribute":
        raise
    raise ImportError(
        "tf.distribute needs agog-distribute: `python -m pip install agog-distribute 'agog-mpi[mpich]'`."
    ) from None

if TYPE_CHECKING:
    from agog.distribute import experimental as experimental
    from agog_distribute import *

__getattr__, __dir__ = _later(
    __name__, modules={"experimental": "agog.distribute.experimental"}, rooms=["agog_distribute"]
)
__getattr__ = _taught(__name__, __getattr__)
