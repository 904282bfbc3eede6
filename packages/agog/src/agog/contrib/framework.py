"""``tf.contrib.framework``: sorting, functions that exclude each other, nested structures, and checkpoints."""

from agog_checkpoint import list_variables, load_checkpoint, load_variable
from agog_compat import nested as nest
from agog_compat.advice import taught as _taught
from agog_compat.critical_section import CriticalSection
from agog_core import argsort, sort

__all__ = ["CriticalSection", "argsort", "list_variables", "load_checkpoint", "load_variable", "nest", "sort"]

__getattr__ = _taught(__name__)
