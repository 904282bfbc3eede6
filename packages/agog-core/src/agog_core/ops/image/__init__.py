"""Image: sizes, colors, boxes and quality of images."""

from agog_core.exports import export as _export
from agog_core.ops.image.boxes import *
from agog_core.ops.image.color import *
from agog_core.ops.image.drawing import *
from agog_core.ops.image.geometry import *
from agog_core.ops.image.intensity import *
from agog_core.ops.image.quality import *
from agog_core.ops.image.resizing import *

_export(globals())
