"""Naming: names of layers and of their variables, and variables that are shared by name."""

from agog_core.exports import export as _export
from agog_layers.naming.variable_store import *

_export(globals())
