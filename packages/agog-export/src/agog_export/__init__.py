"""agog-export: models and functions in the formats of other runtimes, such as ONNX."""

from agog_core.exports import export as _export
from agog_export.export import *

_export(globals())
