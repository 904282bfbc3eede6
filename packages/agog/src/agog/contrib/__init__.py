"""``tf.contrib``: `agog.eager` under its older name, and ops that TensorFlow 1.12 has nowhere else."""

import sys as _sys

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

# So that `import agog.contrib.eager as tfe` finds the same module.
_sys.modules["agog.contrib.eager"] = eager

__all__ = [
    "checkpoint",
    "data",
    "eager",
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

__getattr__ = _taught(__name__)
