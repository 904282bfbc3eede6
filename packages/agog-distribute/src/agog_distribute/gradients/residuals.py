"""Residuals: what compression has taken off the gradients of variables, and adds to their next ones."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from agog_core import Variable, device
from agog_core.processes import Share, keep_share
from agog_core.replicas import among
from agog_distribute.gradients.compression import WIDE
from agog_distribute.processes.groups import Group


class Residuals:
    """Those of one process. A checkpoint has those of all, as slots of a `DistributedOptimizer`.

    As many processes go on with the same bits. Another number begins without: what is lost is less than the rounding of
    one step, and their gradients have other bits anyway.

    Args:
        group: the processes.
    """

    def __init__(self, group: Group) -> None:
        self.name = f"residual_of_{group.size}"  # a checkpoint of another number has none of this name
        self._group = group
        self._of: WeakKeyDictionary[Any, Variable] = WeakKeyDictionary()

    def take(self, variable: Any) -> Any:
        """A copy of a variable's, flat; None where its gradients are not compressed."""
        if variable.dtype.name not in WIDE:
            return None
        return np.array(self.slot(variable).numpy())

    def keep(self, variable: Any, residual: Any) -> None:
        """Note what is left by now."""
        self.slot(variable).assign(residual)

    def slot(self, variable: Any) -> Variable:
        """The variable that holds it."""
        found = self._of.get(variable)
        if found is None:
            shape, rank = tuple(variable.shape.as_list()), self._group.rank
            count = math.prod(shape)
            with among(None), device("cpu"):  # no strategy gives all the value of rank 0
                found = Variable(np.zeros(count, variable.dtype.name), trainable=False, name="residual")
            keep_share(found, Share(rank * count, (rank + 1) * count, (self._group.size, *shape)))
            self._of[variable] = found
        return found

    def slots(self) -> Iterator[tuple[str, Variable, Variable]]:
        """See `Checkpointable.checkpoint_slots`."""
        for variable, slot in list(self._of.items()):
            yield self.name, variable, slot

    def make_slots(self, variable: Variable, names: Container[str]) -> Mapping[str, Variable]:
        """See `Checkpointable.make_checkpoint_slots`."""
        return {self.name: self.slot(variable)} if self.name in names else {}
