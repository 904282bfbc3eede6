"""Processes: what a strategy tells optimizers, layers, metrics and `fit` of, by `agog_core.replicas`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import agog_core as ag
from agog_core import Tensor, Variable
from agog_core.random import drawing_apart
from agog_core.replicas import among, present, present_replicas
from agog_core.tracers import apart
from agog_core.variables.variable import creation_hooks
from agog_distribute.collectives.ops import all_gather, all_reduce, broadcast
from agog_distribute.gradients.averages import average_gradients
from agog_distribute.gradients.tape import DistributedGradientTape
from agog_distribute.processes.groups import Group, everybody

if TYPE_CHECKING:
    from agog_distribute.strategies.strategy import Strategy


class Processes:
    """The processes of a strategy: in its scope, or in a step of theirs.

    Args:
        strategy: the strategy; None where there is none.
        group: its processes.
        in_step: whether each computes its part of a step.
    """

    def __init__(self, strategy: Strategy | None, group: Group, in_step: bool) -> None:
        self.strategy, self.group, self.in_step = strategy, group, in_step
        self.rank, self.size = group.rank, group.size

    def __deepcopy__(self, memo: Any) -> Processes:
        return self

    def all_reduce(self, x: Any, reduction: str = "sum") -> Tensor:
        return all_reduce(x, reduction, self.group)

    def gather_rows(self, x: Any) -> Tensor:
        """See `agog_core.replicas.Replicas`."""
        tensor = ag.convert_to_tensor(x)
        if self.size == 1:
            return tensor
        counts = [int(n) for n in all_gather(ag.constant([tensor.shape[0]], "int64"), self.group).numpy()]
        # Collectives take equal shapes: all add rows, which nobody keeps.
        more = [[0, max(counts) - counts[self.rank]], *[[0, 0]] * (len(tensor.shape) - 1)]
        parts = ag.split(all_gather(ag.pad(tensor, more), self.group), self.size, 0)
        return ag.concat([part[:count] for part, count in zip(parts, counts, strict=True)], 0)

    def gradient_tape(self) -> DistributedGradientTape:
        return DistributedGradientTape(group=self.group, reduction="sum")

    def with_sums(self, apply: Callable[..., None], pairs: Any, *args: Any, **kwargs: Any) -> None:
        pairs = list(pairs)
        if self.size > 1:
            if not self.in_step:
                raise RuntimeError(
                    "apply_gradients() cannot be called in cross-replica context: the replicas would part. Use "
                    "`tf.distribute.Strategy.run` to enter replica context: strategy.run(step, args=(batch,))."
                )
            if pairs:
                gradients, variables = map(list, zip(*pairs, strict=True))
                sums = average_gradients(gradients, variables, group=self.group, reduction="sum")
                pairs = list(zip(sums, variables, strict=True))
        with among(None):
            apply(pairs, *args, **kwargs)

    def step(self) -> AbstractContextManager[None]:
        return nullcontext() if self.strategy is None else self.strategy.replica()

    @contextmanager
    def enter(self) -> Iterator[None]:
        """A ``with`` block in which these are the present replicas, and new variables begin with rank 0's values."""
        before = present_replicas()
        token = present.set(self)
        is_new = self.size > 1 and not (isinstance(before, Processes) and before.strategy is self.strategy)
        hooks = creation_hooks.set((*creation_hooks.get(), self._begin_equal)) if is_new else None
        try:
            if self.in_step and self.size > 1:
                with drawing_apart(self.rank):
                    yield
            else:
                yield
        finally:
            if hooks is not None:
                creation_hooks.reset(hooks)
            present.reset(token)

    def _begin_equal(self, variable: Variable) -> None:
        if present_replicas() is None:  # such as of an optimizer's slots, which are made of equal values or are shares
            return
        with apart(), among(None):
            variable.assign(broadcast(variable.value(), 0, self.group))


def of_run() -> Processes:
    """All processes, in a step that no strategy knows of, as by `DistributedGradientTape`."""
    return Processes(None, everybody(), in_step=True)
