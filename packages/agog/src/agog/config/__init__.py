"""``tf.config``: what there is to compute on, and settings that change nothing here."""

from agog.config import experimental, threading
from agog_compat.advice import taught as _taught
from agog_compat.newer.devices import (
    LogicalDevice,
    PhysicalDevice,
    get_soft_device_placement,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_soft_device_placement,
    set_visible_devices,
)
from agog_core.tracing.eagerly import functions_run_eagerly, run_functions_eagerly
from agog_core.tracing.hotness import compile_functions_at_once, functions_compile_at_once

__all__ = [
    "LogicalDevice",
    "PhysicalDevice",
    "compile_functions_at_once",
    "experimental",
    "functions_compile_at_once",
    "functions_run_eagerly",
    "get_soft_device_placement",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "run_functions_eagerly",
    "set_soft_device_placement",
    "set_visible_devices",
    "threading",
]

__getattr__ = _taught(__name__)
