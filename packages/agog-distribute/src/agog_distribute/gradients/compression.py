"""Compression: gradients sent in half the bytes, with what rounding takes off added to those of the next step.

F. Seide et al., "1-bit stochastic gradient descent", Interspeech 2014; S. P. Karimireddy et al., "Error feedback fixes
SignSGD and other gradient compression schemes", ICML 2019. Rounding the sum is fed back too, as in H. Tang et al.,
"DoubleSqueeze", ICML 2019: by the process that has added up, to its own gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core.plugin import HostCommunicator

WIDE = ("float32", "float64")
"""The dtypes that are compressed."""


def round_into(target: Any, value: Any, error: Any) -> None:
    """Round a value and the error before to another dtype; the error is what is left then."""
    error += value
    target[...] = error
    error -= target.astype(error.dtype)


def sum_rounded(communicator: HostCommunicator, part: Any) -> tuple[int, Any]:
    """Make an array of half precision the sum over all processes, each of which adds one share in single precision.

    Args:
        communicator: the processes.
        part: the array.

    Returns:
        Where this process's share begins, and what rounding has taken off it, in float32.
    """
    size = communicator.size
    padded = np.zeros(-(-part.size // size) * size, part.dtype)
    padded[: part.size] = part
    total = communicator.all_to_all(padded).reshape(size, -1).astype(np.float32).sum(0)
    share = total.astype(part.dtype)
    part[...] = communicator.all_gather(share)[: part.size]
    begin = communicator.rank * share.size
    return begin, (total - share.astype(np.float32))[: max(0, part.size - begin)]
