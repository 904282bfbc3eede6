"""``tf.contrib``: `agog.eager` under its older name, and ops that TensorFlow 1.12 has nowhere else."""

import sys as _sys
from typing import TYPE_CHECKING

from agog import eager
from agog.contrib import (
    checkpoint,
    data,
    framework,
    layers,
    lookup,
    memory_stats,
    mixed_precision,
    nn,
    opt,
    rate,
    rnn,
    signal,
    stateless,
    summary,
    training,
)
from agog_compat.advice import taught as _taught
from agog_core.exports import later as _later

if TYPE_CHECKING:
    from agog.contrib import distribute as distribute
    from agog.contrib import feature_column as feature_column
    from agog.contrib import learn as learn

# So that `import agog.contrib.eager as tfe` finds the same module.
_sys.modules["agog.contrib.eager"] = eager

__all__ = [
    "checkpoint",
    "data",
    "distribute",
    "eager",
    "feature_column",
    "framework",
    "layers",
    "learn",
    "lookup",
    "memory_stats",
    "mixed_precision",
    "nn",
    "opt",
    "rate",
    "rnn",
    "signal",
    "stateless",
    "summary",
    "training",
]

__getattr__, _ = _later(
    __name__, modules={name: f"agog.contrib.{name}" for name in ("distribute", "feature_column", "learn")}
)
__getattr__ = _taught(__name__, __getattr__)
__dir__ = __all__.copy
