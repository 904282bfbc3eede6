"""Testing: what the tests of programs with tensors are made of."""

from agog_compat.testing.decorators import *
from agog_core.exports import export as _export

_export(globals())
