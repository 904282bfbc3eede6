"""Conv: convolutions, pools and patches."""

from agog_core.exports import export as _export
from agog_core.ops.conv.convolutions import *
from agog_core.ops.conv.depthwise import *
from agog_core.ops.conv.morphology import *
from agog_core.ops.conv.patches import *
from agog_core.ops.conv.pools import *
from agog_core.ops.conv.space_to_batch import *
from agog_core.ops.conv.transposed import *

_export(globals())
