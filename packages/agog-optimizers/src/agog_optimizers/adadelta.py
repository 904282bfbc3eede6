"""AdadeltaOptimizer: steps in the unit of the variable."""

from __future__ import annotations

from collections.abc import Mapping

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.adaptive import apply_adadelta
from agog_optimizers.hyperparameters import Number
from agog_optimizers.optimizer import Optimizer

__all__ = ["AdadeltaOptimizer"]


class AdadeltaOptimizer(Optimizer, step_op=apply_adadelta, step_unit="element", touches_rows_only=True):
    """Steps in the unit of the variable: the gradient times the size of former steps over the size of former gradients.

    ``accum = rho * accum + (1 - rho) * gradient ** 2``, ``step = gradient * sqrt(accum_update + epsilon) / sqrt(accum
    + epsilon)``, ``accum_update = rho * accum_update + (1 - rho) * step ** 2``, ``variable -= learning_rate * step``.
    M. Zeiler, "ADADELTA: an adaptive learning rate method", 2012, where the learning rate is 1.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one.
        rho: the share of the slots that stays, in the same form.
        epsilon: what lets the first step begin, in the same form.
        name: the optimizer's name.

    >>> v = Variable(5.0)
    >>> optimizer = AdadeltaOptimizer(1.0)
    >>> optimizer.minimize(lambda: v * v)
    >>> print(f"{v:.4f}", optimizer.get_slot_names())
    4.9996 ['accum', 'accum_update']
    """

    rho: Number
    epsilon: Number

    def __init__(
        self,
        learning_rate: Number = 0.001,
        rho: Number = 0.95,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(learning_rate, name)
        self.keep(rho=rho, epsilon=epsilon)

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        return {"accum": zeros_like(variable), "accum_update": zeros_like(variable)}
