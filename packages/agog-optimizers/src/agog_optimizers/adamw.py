"""AdamWOptimizer: Adam that pulls variables towards 0 beside the step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from agog_core import IndexedSlices, TensorLike, Variable, gather, scatter_update, subtract
from agog_optimizers.adam import AdamOptimizer
from agog_optimizers.hyperparameters import Number, times
from agog_optimizers.optimizer import Optimizer
from agog_optimizers.rows import distinct

__all__ = ["AdamWOptimizer"]


class AdamWOptimizer(AdamOptimizer):
    """Adam that pulls variables towards 0 beside the step, which a penalty in the loss would not do.

    ``variable -= weight_decay * variable``, then a step of `AdamOptimizer`; the decay is not multiplied with the
    learning rate, as in TensorFlow 1.12. I. Loshchilov and F. Hutter, "Decoupled weight decay regularization", ICLR
    2019. After a lookup only the rows that were looked up decay.

    Args:
        weight_decay: the share that a step takes off, a hyperparameter.

    Other arguments: see `AdamOptimizer`.

    >>> v = Variable(4.0)
    >>> AdamWOptimizer(0.25, learning_rate=0.5).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(2.5)
    """

    weight_decay: Number

    def __init__(
        self,
        weight_decay: Number,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
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
        """See `Optimizer.minimize`; those of ``decay_var_list`` decay, or all where it is None."""
        pairs = self.compute_gradients(loss, var_list, gate_gradients, grad_loss=grad_loss)
        self.apply_gradients(pairs, global_step, decay_var_list=decay_var_list)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
        decay_var_list: Iterable[Variable] | None = None,
    ) -> None:
        """See `Optimizer.apply_gradients`; those of ``decay_var_list`` decay, or all where it is None."""
        self._decaying = None if decay_var_list is None else frozenset(map(id, decay_var_list))
        super().apply_gradients(grads_and_vars, global_step, name)

    def update(
        self, variable: Variable, gradient: Any, hyperparameters: dict[str, Any], slots: Sequence[Variable]
    ) -> None:
        if self._decaying is not None and id(variable) not in self._decaying:
            hyperparameters = {**hyperparameters, "weight_decay": 0.0}
        super().update(variable, gradient, hyperparameters, slots)

    def update_rows(
        self, variable: Variable, gradient: IndexedSlices, hyperparameters: dict[str, Any], slots: Sequence[Variable]
    ) -> None:
        if self._decaying is None or id(variable) in self._decaying:
            rows, _ = distinct(gradient)
            before = gather(variable._current(), rows)
            scatter_update(variable, rows, subtract(before, times(before, hyperparameters["weight_decay"])))
        super().update_rows(variable, gradient, {**hyperparameters, "weight_decay": 0.0}, slots)
