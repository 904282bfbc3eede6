"""GradientAccumulator: steps from the gradients of several batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import agog_core as ag
from agog_core import Tensor, Variable
from agog_core.ops.updates.descent import apply_add
from agog_core.replicas import present_replicas
from agog_core.tracers import late
from agog_optimizers.host_variables import host_variable
from agog_optimizers.hyperparameters import times
from agog_optimizers.optimizer import Optimizer
from agog_optimizers.wrapper import OptimizerWrapper

__all__ = ["GradientAccumulator"]


class GradientAccumulator(OptimizerWrapper, step_unit="element"):
    """Takes one step for several small batches, equal to the step for one large batch.

    The gradient of a batch is taken to be that of a mean over its examples, so batches count by their numbers of
    examples: the last one may be smaller, and `flush` takes a step for fewer batches at the end of an epoch. A variable
    that has had a gradient once counts with 0 in batches without one, and lookups give dense gradients.

    Args:
        opt: the optimizer that takes the steps.
        batches: for how many batches it takes one.
        name: the optimizer's name.

    Raises:
        ValueError: ``opt`` is no optimizer, or there is no batch.

    >>> from agog_core import constant
    >>> v = Variable(10.0)
    >>> from agog_optimizers import GradientDescentOptimizer
    >>> optimizer = GradientAccumulator(GradientDescentOptimizer(1.0), batches=2)
    >>> optimizer.apply_gradients([(constant(1.0), v)], examples=3)
    >>> optimizer.apply_gradients([(constant(5.0), v)], examples=1)
    >>> v.numpy()
    np.float32(8.0)
    """

    def __init__(self, opt: Optimizer, batches: int, name: str = "GradientAccumulator") -> None:
        if batches < 1:
            raise ValueError(f"{name}: batches must be at least 1; got {batches}.")
        super().__init__(opt, name)
        self.batches = batches
        self.seen_batches = host_variable(0, "int64", "seen_batches")
        self.seen_examples = host_variable(0, "int64", "seen_examples")

    def minimize(
        self,
        loss: Callable[[], Any],
        global_step: Variable | None = None,
        var_list: Iterable[Variable] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: ag.TensorLike = None,
        examples: int = 1,
    ) -> None:
        """Add the gradients of a batch, and take a step when the batches are complete. See `Optimizer.minimize`.

        Args:
            loss: a function without arguments that returns the mean loss of the batch.
            examples: how many examples the batch has, at least 1.
        """
        pairs = self.compute_gradients(loss, var_list, gate_gradients, grad_loss=grad_loss)
        self.apply_gradients(pairs, global_step, examples=examples)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[ag.TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
        examples: int = 1,
    ) -> None:
        """Add the gradients of a batch, and take a step when the batches are complete. See `Optimizer.apply_gradients`.

        Args:
            examples: how many examples the batch has, at least 1.
        """
        if (replicas := present_replicas()) is not None:
            return replicas.with_sums(self.apply_gradients, grads_and_vars, global_step, name, examples)
        if examples < 1:
            raise ValueError(f"{self._name}: examples must be at least 1; got {examples}.")
        self._check_step("apply_gradients", global_step, "The variables to change are in the pairs.")
        pairs = self._steps(grads_and_vars)
        with ag.device(None):
            is_complete = bool(self.seen_batches._current() >= self.batches - 1)
        # All slots now: a traced function may make variables at its first call only.
        self.prepare(variable for _, variable in pairs if variable not in self._slots.of)
        for gradient, variable in pairs:
            total = self._slots_for(variable)["gradient_sum"]
            apply_add(total, ag.cast(ag.convert_to_tensor(gradient), total.dtype), examples)
        self.seen_batches.assign_add(1)
        self.seen_examples.assign_add(examples)
        if is_complete:
            self._take_step(global_step)

    def flush(self, global_step: Variable | None = None) -> None:
        """Take a step for the batches so far, where there are any.

        Args:
            global_step: a variable to count up where a step is taken.
        """
        with ag.device(None):
            has_seen = bool(self.seen_examples._current() > 0)
        if has_seen:
            self._take_step(global_step)

    def _take_step(self, global_step: Variable | None) -> None:
        share = late(lambda: 1 / int(self.seen_examples))
        totals = [(slots["gradient_sum"], variable) for variable, slots in list(self._slots.of.items())]
        means = [(ag.cast(times(total._current(), share), variable.dtype), variable) for total, variable in totals]
        self.optimizer.apply_gradients(means, global_step)
        for total, _ in totals:
            total.assign(ag.zeros(total.shape, total.dtype))
        self.seen_batches.assign(0)
        self.seen_examples.assign(0)

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        """See `Optimizer.make_slots`; the sum of the gradients is in float32 for variables of half precision."""
        return {"gradient_sum": ag.zeros(variable.shape, "float32" if variable.dtype.size == 2 else variable.dtype)}

    def non_slot_variables(self) -> list[Variable]:
        """See `Optimizer.non_slot_variables`; they count batches and examples since the last step."""
        return [self.seen_batches, self.seen_examples]
