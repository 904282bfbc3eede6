"""``tf.config``: what there is to compute on, and settings that change nothing here."""

from agog.config import experimental as experimental
from agog.config import threading as threading
from agog_compat.advice import face as _face
from agog_compat.devices import LogicalDevice as LogicalDevice
from agog_compat.devices import PhysicalDevice as PhysicalDevice
from agog_compat.devices import get_soft_device_placement as get_soft_device_placement
from agog_compat.devices import get_visible_devices as get_visible_devices
from agog_compat.devices import list_logical_devices as list_logical_devices
from agog_compat.devices import list_physical_devices as list_physical_devices
from agog_compat.devices import set_soft_device_placement as set_soft_device_placement
from agog_compat.devices import set_visible_devices as set_visible_devices
from agog_core.tracing.execution.hotness import compile_functions_at_once as compile_functions_at_once
from agog_core.tracing.execution.hotness import functions_compile_at_once as functions_compile_at_once
from agog_core.tracing.functions.eager_mode import *

_face(globals(), "experimental", "threading")
