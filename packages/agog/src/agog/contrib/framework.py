"""``tf.contrib.framework``: sorting, functions that exclude each other, nested structures, and checkpoints."""

from agog_checkpoint import list_variables as list_variables
from agog_checkpoint import load_checkpoint as load_checkpoint
from agog_checkpoint import load_variable as load_variable
from agog_compat import nest as nest
from agog_compat.advice import face as _face
from agog_compat.critical_section import CriticalSection as CriticalSection
from agog_core import argsort as argsort
from agog_core import sort as sort

_face(globals(), "nest")
