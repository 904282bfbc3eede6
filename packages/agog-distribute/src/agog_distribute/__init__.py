"""agog-distribute: programs of several processes, and the ops with which they compute together.

>>> import agog_distribute
>>> agog_distribute.rank(), agog_distribute.size()
(0, 1)
"""

from agog_core.exports import export as _export
from agog_distribute.deadline import *
from agog_distribute.groups import *
from agog_distribute.ops import *

__version__ = "0.1.0"
_export(globals())
