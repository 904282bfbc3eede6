"""Shares: large functions on the team's threads, which take shares of the outermost loop. Elements keep their bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from agog_core.plugin import threads
from agog_cpu_llvm import machine
from agog_cpu_llvm.team import run

_SHARES = 8  # of a call, so that the end of one thread's last share is not far from that of another's


def in_shares(code: machine.Code, addresses: Any, kept: Any) -> Callable[..., None]:
    """The function of the arrays of a subgraph, on as many threads as are allowed; see `machine.Code.function`."""
    function = code.function(addresses, kept)
    whole: Callable[..., None] = partial(function, np.int64(0), np.int64(code.turns))
    if not code.shared:
        return whole
    share = -(-code.turns // (_SHARES * code.grain)) * code.grain
    count = -(-code.turns // share)
    given = count, share, code.turns, addresses.ctypes.data

    def in_turn(*arrays: Any) -> None:
        if threads.count() == 1:
            whole(*arrays)
        else:
            run(code.shared, (*given, *map(id, arrays)), most=count)

    return in_turn
