"""``tf.export``: models and functions in the formats of other runtimes, by agog-export, installed beside agog."""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_core.exports import later as _later

try:
    import agog_export as _agog_export
except ModuleNotFoundError as error:
    if error.name != "agog_export":
        raise
    raise ImportError("tf.export needs agog-export: `python -m pip install 'agog-export[onnx]'`.") from None

if TYPE_CHECKING:
    from agog_export import *

__getattr__, __dir__ = _later(__name__, rooms=["agog_export"])
__getattr__ = _taught(__name__, __getattr__)
