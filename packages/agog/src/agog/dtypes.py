"""``tf.dtypes``: the types of elements, and their conversions."""

from agog import bool as bool
from agog import double as double
from agog import half as half
from agog_compat.advice import face as _face
from agog_core.dtypes import *
from agog_core.ops.array.casting import cast as cast
from agog_core.ops.array.complex import complex as complex
from agog_core.ops.math.clipping import saturate_cast as saturate_cast
from agog_core.ops.strings.encoding import as_string as as_string

_face(globals())
