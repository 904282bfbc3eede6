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
    from agog.contrib import feature_column as feature_column

# So that `import agog.contrib.eager as tfe` finds the same module.
_sys.modules["agog.contrib.eager"] = eager

__all__ = [
    "checkpoint",
    "data",
    "eager",
    "feature_column",
    "framework",
    "layers",
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

__getattr__, _ = _later(__name__, modules={"feature_column": "agog.contrib.feature_column"})
__getattr__ = _taught(__name__, __getattr__)
__dir__ = __all__.copy
