"""``tf.config.experimental``: devices and their memory."""

from agog_compat.advice import face as _face
from agog_compat.devices import enable_op_determinism as enable_op_determinism
from agog_compat.devices import get_memory_info as get_memory_info
from agog_compat.devices import get_visible_devices as get_visible_devices
from agog_compat.devices import list_logical_devices as list_logical_devices
from agog_compat.devices import list_physical_devices as list_physical_devices
from agog_compat.devices import set_memory_growth as set_memory_growth
from agog_compat.devices import set_visible_devices as set_visible_devices

_face(globals())
