"""Keras optimizer: the base of Keras's optimizers, over the formulas of agog-optimizers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from agog_core import Tensor, TensorLike, Variable, clip_by_global_norm, clip_by_norm, clip_by_value, device
from agog_core.replicas import among, present_replicas
from agog_core.tracers import called
from agog_layers.arguments.checks import refuse_unknown
from agog_layers.serialization.description import Configured, constructor_arguments
from agog_optimizers import Optimizer
from agog_optimizers.gradients_and_variables import pairs_of
from agog_optimizers.hyperparameters import checked_number
from agog_training.optimizers.schedules import LearningRateSchedule

__all__ = ["KerasOptimizer"]

# What Keras takes today, and all optimizers here.
_TODAY = ("learning_rate", "global_clipnorm", "name")

# The hyperparameters that Keras keeps in variables, and the attributes that hold them here.
_ATTRIBUTES = {
    "learning_rate": ("lr",),
    "decay": ("decay",),
    "beta_1": ("beta_1", "beta1"),
    "beta_2": ("beta_2", "beta2"),
    "momentum": ("momentum",),
    "rho": ("rho",),
}


class Rate(float):
    """A learning rate: a number, which its optimizer can be given another one of, as Keras's variable can.

    >>> from agog_training.optimizers import SGD
    >>> optimizer = SGD(0.5)
    >>> optimizer.lr.assign(0.25)
    >>> optimizer.lr, optimizer.lr.numpy()
    (0.25, np.float32(0.25))
    """

    _optimizer: KerasOptimizer

    def assign(self, value: float) -> None:
        """Give the optimizer another learning rate."""
        self._optimizer.lr = float(value)

    def numpy(self) -> np.float32:
        """The number, in float32."""
        return np.float32(self)


class KerasOptimizer(Configured, Optimizer, step_unit="element"):
    """The additions of Keras's optimizers to those of ``tf.train``: they count steps, decay, and clip gradients.

    Args:
        lr: the learning rate: a number, a variable, a function, or a `LearningRateSchedule` of the steps so far.
        decay: the learning rate of step n, from 0, is ``lr / (1 + decay * n)``.
        clipnorm: the largest norm of each gradient; None for any.
        clipvalue: the largest absolute value in gradients; None for any.
        *args: the arguments after the learning rate of the optimizer that has the formula.
        today: what Keras says today: ``learning_rate``, which is ``lr``; ``global_clipnorm``, the largest norm of all
            gradients together; and ``name``.
        **kwargs: further arguments of the optimizer that has the formula.
    """

    described_kind: ClassVar[str] = "optimizer"

    def __init__(
        self,
        lr: Any,
        decay: float,
        clipnorm: float | None,
        clipvalue: float | None,
        *args: Any,
        today: dict[str, Any],
        **kwargs: Any,
    ) -> None:
        kind = type(self).__name__
        refuse_unknown(kind, today, [*constructor_arguments(type(self), KerasOptimizer), *_TODAY])
        self._today = {name: value for name, value in today.items() if value is not None}
        lr = self._today.pop("learning_rate", lr)
        self.global_clipnorm = today.get("global_clipnorm")
        kwargs |= {name: value for name, value in self._today.items() if name == "name"}
        limits = {"clipnorm": clipnorm, "clipvalue": clipvalue, "global_clipnorm": self.global_clipnorm}
        for name, value in {"lr": lr, "decay": decay, **limits}.items():
            if value is not None or name in ("lr", "decay"):
                checked_number(kind, name, value)
            if name in limits and value is not None and value < 0:
                raise ValueError(f"{kind}: {name} must not be negative; got {value}.")
        if args:
            super().__init__(lr, *args, **kwargs)
        else:
            super().__init__(learning_rate=lr, **kwargs)
        self.lr, self.decay, self.clipnorm, self.clipvalue = lr, decay, clipnorm, clipvalue
        self._kept = tuple(("_decayed" if name == "learning_rate" else name, given) for name, given in self._kept)
        self.iterations = Variable(0, trainable=False, name="iterations", dtype="int64")

    # `lr` is kept where checkpoints find it if it is a variable.
    @property
    def lr(self) -> Any:
        """The learning rate: what was given, or assigned since."""
        kept = vars(self)["lr"]
        if type(kept) not in (float, int):
            return kept
        rate = Rate(kept)
        rate._optimizer = self
        return rate

    @lr.setter
    def lr(self, value: Any) -> None:
        vars(self)["lr"] = float(value) if isinstance(value, float) else value

    @property
    def learning_rate(self) -> Any:
        """The same as ``lr``."""
        return self.lr

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.lr = value

    @property
    def step_unit(self) -> str:
        if self.global_clipnorm is not None:
            return "all"
        return super().step_unit if self.clipnorm is None else "variable"

    def get_config(self) -> dict[str, Any]:
        names = constructor_arguments(type(self), KerasOptimizer)
        return {name: self._described(name) for name in names} | self._today

    def _shown(self) -> dict[str, Any]:
        kept = super()._shown()
        del kept["_decayed"]
        own = {name: getattr(self, name) for name in ("lr", "decay", "clipnorm", "clipvalue", "global_clipnorm")}
        return {name: value for name, value in own.items() if value or name == "lr"} | kept

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        """Take over the hyperparameters in a checkpoint of Keras, where they are numbers here, too."""
        super().restore_checkpoint_state(state)
        for name, value in state.items():
            for attribute in _ATTRIBUTES.get(name, ()):
                if isinstance(vars(self).get(attribute), (int, float)):
                    setattr(self, attribute, value)

    def _decayed(self) -> float:
        rate = self.lr
        with device("/cpu:0"):  # where nobody has to wait for what a schedule computes
            if isinstance(rate, LearningRateSchedule):
                rate = called(rate, self.iterations)
            rate = float(called(rate) if callable(rate) else rate)
        return rate / (1 + self.decay * int(self.iterations)) if self.decay else rate

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
        *args: Any,
        experimental_aggregate_gradients: bool = True,
        skip_gradients_aggregation: bool = False,
        **kwargs: Any,
    ) -> None:
        """See `Optimizer.apply_gradients`; further arguments are those of the optimizer that has the formula.

        Args:
            experimental_aggregate_gradients: whether the replicas of a strategy sum their gradients first.
            skip_gradients_aggregation: whether they do not, as the program has summed them.
        """
        if (replicas := present_replicas()) is not None:
            if skip_gradients_aggregation or not experimental_aggregate_gradients:
                with among(None):
                    return self.apply_gradients(grads_and_vars, global_step, name, *args, **kwargs)
            return replicas.with_sums(self.apply_gradients, grads_and_vars, global_step, name, *args, **kwargs)
        given = pairs_of(self._name, grads_and_vars)
        pairs = [(gradient if gradient is None else self._clipped(gradient), v) for gradient, v in given]
        if self.global_clipnorm is not None and pairs:
            gradients, variables = zip(*pairs, strict=True)
            pairs = list(zip(clip_by_global_norm(gradients, self.global_clipnorm)[0], variables, strict=True))
        super().apply_gradients(pairs, global_step, name, *args, **kwargs)
        self.iterations.assign_add(1)

    def apply(self, grads: Iterable[TensorLike], trainable_variables: Iterable[Variable]) -> None:
        """Take one step. See `apply_gradients`.

        Args:
            grads: the gradients.
            trainable_variables: their variables, in the same order.
        """
        self.apply_gradients(zip(grads, trainable_variables, strict=True))

    def minimize(
        self, loss: Callable[[], Any], global_step: Any = None, var_list: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        """See `Optimizer.minimize`; a list in the second place are the variables, as in Keras."""
        if isinstance(global_step, (list, tuple)):
            if var_list is not None:
                raise TypeError(f"{type(self).__name__}.minimize: var_list is given twice: in the second place, too.")
            global_step, var_list = None, global_step
        super().minimize(loss, global_step, var_list, *args, **kwargs)

    def _clipped(self, gradient: Any) -> Tensor:
        if self.clipnorm is not None:
            gradient = clip_by_norm(gradient, self.clipnorm)
        if self.clipvalue is not None:
            gradient = clip_by_value(gradient, -self.clipvalue, self.clipvalue)
        clipped: Tensor = gradient
        return clipped
