"""``tf.contrib``: `agog.eager` under its older name."""

import sys

from agog import eager

# So that `import agog.contrib.eager as tfe` finds the same module.
sys.modules["agog.contrib.eager"] = eager

__all__ = ["eager"]
