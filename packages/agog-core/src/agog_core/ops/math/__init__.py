"""Math: elementwise arithmetic, logic, rounding and special functions."""

from agog_core.exports import export as _export
from agog_core.ops.math import bitwise as _bitwise  # its functions are in tf.bitwise only
from agog_core.ops.math.arithmetic import *
from agog_core.ops.math.clipping import *
from agog_core.ops.math.division import *
from agog_core.ops.math.elementary import *
from agog_core.ops.math.linear_combinations import *
from agog_core.ops.math.logic import *
from agog_core.ops.math.rounding import *
from agog_core.ops.math.special import *
from agog_core.ops.math.trigonometric import *

# The functions of `quotients` are in tf.math only, which imports them.
_export(globals())
