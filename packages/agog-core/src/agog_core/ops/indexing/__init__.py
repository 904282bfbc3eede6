"""Indexing: gathering, scattering and segments."""

from agog_core.exports import export as _export
from agog_core.ops.indexing.gathering import *
from agog_core.ops.indexing.indexing import *
from agog_core.ops.indexing.partition import *
from agog_core.ops.indexing.repeating import *
from agog_core.ops.indexing.scattering import *
from agog_core.ops.indexing.segments import *
from agog_core.ops.indexing.sorted_segments import *
from agog_core.ops.indexing.sparse import *
from agog_core.ops.indexing.tensor_scatter import *

_export(globals())
