"""Mixed precision: training in half precision, with `LossScaleOptimizer`."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import reduce
from typing import Any

import agog_core as ag
from agog_core import Tensor, Variable
from agog_core.replicas import present_replicas
from agog_core.tracers import late
from agog_optimizers.host_variables import host_variable
from agog_optimizers.hyperparameters import times
from agog_optimizers.loss_scale import LossScaleManager
from agog_optimizers.optimizer import Optimizer
from agog_optimizers.wrapper import OptimizerWrapper

__all__ = ["LossScaleOptimizer"]

MASTER = "master"


class LossScaleOptimizer(OptimizerWrapper, step_unit="all"):
    """Scales the loss, so that gradients of half precision do not vanish, and takes no step with infinite ones.

    Variables of half precision get master copies in float32, which the other optimizer changes: small steps would be
    lost in half precision. P. Micikevicius et al., "Mixed precision training", ICLR 2018.

    Args:
        opt: the optimizer that takes the steps.
        loss_scale_manager: says by how much the loss is scaled.

    Raises:
        ValueError: ``opt`` is no optimizer, or the manager is none.

    >>> from agog_core import constant
    >>> from agog_optimizers import GradientDescentOptimizer
    >>> from agog_optimizers.loss_scale import FixedLossScaleManager
    >>> v = Variable(constant(1.0, "float16"))
    >>> optimizer = LossScaleOptimizer(GradientDescentOptimizer(1.0), FixedLossScaleManager(1024.0))
    >>> optimizer.minimize(lambda: v * 0.5)
    >>> v.numpy(), optimizer.get_slot(v, "master").dtype
    (np.float16(0.5), tf.float32)
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager) -> None:
        super().__init__(opt, "LossScaleOptimizer")
        if not isinstance(loss_scale_manager, LossScaleManager):
            raise ValueError(
                "LossScaleOptimizer: loss_scale_manager must be a LossScaleManager; got "
                f"{loss_scale_manager!r} of type {type(loss_scale_manager).__name__}."
            )
        self.loss_scale_manager = loss_scale_manager
        self.skipped_steps = host_variable(0, "int64", "skipped_steps")

    def compute_gradients(self, loss: Callable[[], Any], *args: Any, **kwargs: Any) -> list[tuple[Any, Variable]]:
        """See `Optimizer.compute_gradients`; gradients of half precision become float32, where they do not vanish."""
        scaled = self.get_scaled_loss(loss) if callable(loss) else loss
        pairs = self.optimizer.compute_gradients(scaled, *args, **kwargs)
        gradients = self.get_unscaled_gradients([gradient for gradient, _ in pairs])
        return [(gradient, variable) for gradient, (_, variable) in zip(gradients, pairs, strict=True)]

    def get_scaled_loss(self, loss: Any) -> Any:
        """Scale a loss, for a tape of the program's own.

        Args:
            loss: the loss, or a function without arguments that returns it.

        Returns:
            The loss times the present scale, where it was of half precision in float32; or a function that returns it.
        """
        if callable(loss):
            return lambda: self.get_scaled_loss(loss())
        return _scaled(ag.convert_to_tensor(loss), late(lambda: float(self.loss_scale_manager.get_loss_scale())))

    def get_unscaled_gradients(self, grads: Iterable[Any]) -> list[Any]:
        """Divide the gradients of a scaled loss by the present scale.

        Args:
            grads: the gradients; None stays None.

        Returns:
            The gradients of the loss itself; those of half precision in float32, where they do not vanish.
        """
        inverse = late(lambda: 1 / float(self.loss_scale_manager.get_loss_scale()))
        return [_scaled(gradient, inverse) for gradient in grads]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[ag.TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> None:
        """Take one step where all gradients are finite, and let the scale adapt. See `Optimizer.apply_gradients`."""
        if (replicas := present_replicas()) is not None:
            return replicas.with_sums(self.apply_gradients, grads_and_vars, global_step, name)
        pairs = list(grads_and_vars)
        flags = [ag.reduce_all(ag.is_finite(_values(gradient))) for gradient, _ in pairs if gradient is not None]
        finite = not flags or bool(reduce(ag.logical_and, flags))
        if finite:
            masters = [(gradient, self._master(variable)) for gradient, variable in pairs]
            self.optimizer.apply_gradients(
                [(_scaled(gradient, 1.0), master) for gradient, master in masters], global_step
            )
            for (_, variable), (gradient, master) in zip(pairs, masters, strict=True):
                if gradient is not None and master is not variable:
                    variable.assign(ag.cast(master._current(), variable.dtype))
        else:
            self.skipped_steps.assign_add(1)
        self.loss_scale_manager.update_loss_scale(finite)

    def prepare(self, variables: Iterable[Variable]) -> None:
        self.optimizer.prepare(map(self._master, variables))

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        """See `Optimizer.make_slots`; the slot is the master copy of a variable of half precision."""
        return {MASTER: ag.cast(variable._current(), "float32")}

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """See `Optimizer.get_slot`; ``"master"`` is the master copy, and other slots may be the master copy's."""
        master = self._slots.of.get(var, {}).get(MASTER)
        return master if name == MASTER else self.optimizer.get_slot(var if master is None else master, name)

    def non_slot_variables(self) -> list[Variable]:
        """See `Optimizer.non_slot_variables`; it counts the steps that were not taken."""
        return [self.skipped_steps]

    def checkpoint_slots(self) -> Iterator[tuple[str, Variable, Variable]]:
        """See `Checkpointable.checkpoint_slots`; the slots of a master copy are saved as the variable's own."""
        owners = {slots[MASTER]: variable for variable, slots in list(self._slots.of.items())}
        yield from super().checkpoint_slots()
        for name, master, slot in self.optimizer.checkpoint_slots():
            if master in owners:
                yield name, owners[master], slot

    def make_checkpoint_slots(self, variable: Variable, names: Container[str]) -> Mapping[str, Variable]:
        """See `Checkpointable.make_checkpoint_slots`; those of the master copy too."""
        if MASTER not in names:
            return super().make_checkpoint_slots(variable, names)
        master = self._master(variable)
        return {MASTER: master, **self.optimizer.make_checkpoint_slots(master, names)}

    def _master(self, variable: Variable) -> Variable:
        if not isinstance(variable, Variable) or variable.dtype.size != 2 or not variable.dtype.is_floating:
            return variable
        slots = self._slots.of.get(variable)
        if slots is None:
            slots = self._new_slots(variable)
            slots[MASTER]._name = variable._name  # after which the other optimizer names its slots
            slots[MASTER].constraint = variable.constraint
        return slots[MASTER]


def _values(gradient: Any) -> Any:
    return gradient.values if isinstance(gradient, ag.IndexedSlices) else gradient


def _scaled(gradient: Any, factor: float) -> Any:
    """A gradient times a factor; one of half precision becomes float32 before."""
    if gradient is None or isinstance(gradient, ag.IndexedSlices):
        return gradient and ag.IndexedSlices(_scaled(gradient.values, factor), gradient.indices, gradient._shape)
    wide = ag.cast(gradient, "float32") if getattr(gradient, "dtype", None) in _HALVES else gradient
    return wide if factor == 1 else times(wide, factor)


_HALVES = ("float16", "bfloat16")
