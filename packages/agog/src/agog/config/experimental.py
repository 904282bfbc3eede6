"""``tf.config.experimental``: devices and their memory."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.devices import (
    enable_op_determinism,
    get_memory_info,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_memory_growth,
    set_visible_devices,
)

__all__ = [
    "enable_op_determinism",
    "get_memory_info",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "set_memory_growth",
    "set_visible_devices",
]

__getattr__ = _taught(__name__)
