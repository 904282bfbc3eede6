"""Weight decay beside the steps of any optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from agog_core import IndexedSlices, TensorLike, Variable, gather, scatter_update
from agog_optimizers.hyperparameters import Number, times
from agog_optimizers.optimizer import Optimizer
from agog_optimizers.rows import distinct

__all__ = ["DecoupledWeightDecayExtension", "extend_with_decoupled_weight_decay"]


class DecoupledWeightDecayExtension(Optimizer, step_unit="element"):
    """A first base, which lets the optimizer that is the second one pull variables towards 0 beside its steps.

    ``variable -= weight_decay * variable``, then the step; the decay is not multiplied with the learning rate, as in
    TensorFlow 1.12. I. Loshchilov and F. Hutter, "Decoupled weight decay regularization", ICLR 2019. After a lookup
    only the rows that were looked up decay.

    Args:
        weight_decay: the share that a step takes off, a hyperparameter.
        *args: the arguments of the other optimizer.
        **kwargs: the same by name.

    >>> from agog_optimizers import GradientDescentOptimizer
    >>> class Decaying(DecoupledWeightDecayExtension, GradientDescentOptimizer): ...
    >>> v = Variable(4.0)
    >>> Decaying(0.25, learning_rate=0.125).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(2.0)
    """

    weight_decay: Number

    def __init__(self, weight_decay: Number, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.keep(weight_decay=weight_decay)
        self._decaying: frozenset[int] | None = None

    def minimize(
        self,
        loss: Callable[[], Any],
        global_step: Variable | None = None,
        var_list: Iterable[Variable] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike = None,
        decay_var_list: Iterable[Variable] | None = None,
    ) -> None:
        """See `Optimizer.minimize`; those of ``decay_var_list`` decay, or all if it is None."""
        pairs = self.compute_gradients(loss, var_list, gate_gradients, grad_loss=grad_loss)
        self.apply_gradients(pairs, global_step, decay_var_list=decay_var_list)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
        decay_var_list: Iterable[Variable] | None = None,
    ) -> None:
        """See `Optimizer.apply_gradients`; those of ``decay_var_list`` decay, or all if it is None."""
        self._decaying = None if decay_var_list is None else frozenset(map(id, decay_var_list))
        super().apply_gradients(grads_and_vars, global_step, name)

    def decays(self, variable: Variable) -> bool:
        """Whether a variable decays in this step.

        Args:
            variable: the variable.

        Returns:
            True or False.
        """
        return self._decaying is None or id(variable) in self._decaying

    def update(
        self, variable: Variable, gradient: Any, hyperparameters: dict[str, Any], slots: Sequence[Variable]
    ) -> None:
        rest = dict(hyperparameters)
        decay = rest.pop("weight_decay", None)
        if decay is not None and self.decays(variable):
            variable.assign_sub(times(variable._current(), decay))
        super().update(variable, gradient, rest, slots)

    def update_rows(
        self, variable: Variable, gradient: IndexedSlices, hyperparameters: dict[str, Any], slots: Sequence[Variable]
    ) -> None:
        rest = dict(hyperparameters)
        self.decay_rows(variable, gradient, rest.pop("weight_decay"))
        super().update_rows(variable, gradient, rest, slots)

    def decay_rows(self, variable: Variable, gradient: IndexedSlices, decay: Any) -> None:
        """Decay the rows looked up, if the variable decays in this step.

        Args:
            variable: the variable.
            gradient: the gradient of the lookup.
            decay: the share that the step takes off.
        """
        if self.decays(variable):
            rows, _ = distinct(gradient)
            before = gather(variable._current(), rows)
            scatter_update(variable, rows, before - times(before, decay))


def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> Any:
    """Make a class of optimizers with weight decay of one without it.

    Args:
        base_optimizer: the class.

    Returns:
        A class, whose first argument is ``weight_decay``; see `DecoupledWeightDecayExtension`.

    >>> from agog_optimizers import GradientDescentOptimizer
    >>> v = Variable(4.0)
    >>> extend_with_decoupled_weight_decay(GradientDescentOptimizer)(0.25, 0.125).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(2.0)
    """

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[misc, valid-type]  # any base
        """An optimizer with weight decay. See `DecoupledWeightDecayExtension`."""

    return OptimizerWithDecoupledWeightDecay
