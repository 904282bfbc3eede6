"""Updates: in-place updates of variables: assignments, rows, and the steps of optimizers."""

from agog_core.exports import export as _export
from agog_core.ops.updates import methods as methods  # attaches methods to variables
from agog_core.ops.updates.rows import *
from agog_core.ops.updates.variables import *

_export(globals())
