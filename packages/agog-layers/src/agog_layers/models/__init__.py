"""Models: layers of layers, for use by themselves."""

from agog_core.exports import export as _export
from agog_layers.models.deserialization import *
from agog_layers.models.input import *
from agog_layers.models.model import *
from agog_layers.models.network import *
from agog_layers.models.sequential import *

_export(globals())
