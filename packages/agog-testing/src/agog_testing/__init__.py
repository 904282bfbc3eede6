"""Testing: what authors of kernels and layers test with: facts about ops, gradient and error checks, the conformance "
"kit."""

from agog_core.exports import export as _export
from agog_testing.errors import *
from agog_testing.gradcheck import *

_export(globals())
