"""Loss scale: Keras's `LossScaleOptimizer`, over that of agog-optimizers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import agog_optimizers
from agog_core import TensorLike, Variable
from agog_core.replicas import present_replicas
from agog_layers.layer.policy import Policy
from agog_layers.serialization.description import Configured
from agog_optimizers import ExponentialUpdateLossScaleManager, FixedLossScaleManager, Optimizer
from agog_training.optimizers.description import describe_optimizer, revive_optimizer

__all__ = ["LossScaleOptimizer"]


class LossScaleOptimizer(Configured, agog_optimizers.LossScaleOptimizer):
    """Scales the loss, so that gradients of half precision do not vanish, and takes no step with infinite ones.

    `Model.fit` does so with it. A loop of its own scales the loss with `get_scaled_loss`, and the gradients back with
    `get_unscaled_gradients`; or says `scale_loss` alone, after which `apply_gradients` scales them back.

    P. Micikevicius et al., "Mixed precision training", ICLR 2018.

    Args:
        inner_optimizer: the optimizer that takes the steps.
        dynamic: whether the scale adapts: it doubles after many steps in a row with finite gradients, and halves after
            one with others.
        initial_scale: the scale to begin with, at least 1; None for 2**15.
        dynamic_growth_steps: after how many steps in a row it doubles; None for 2000.

    Raises:
        ValueError: ``inner_optimizer`` is no optimizer, or a number is out of its range.
        TypeError: ``dynamic`` is no bool.

    >>> from agog_training.optimizers import SGD
    >>> v = Variable(1.0)
    >>> optimizer = LossScaleOptimizer(SGD(0.5), initial_scale=1024.0)
    >>> optimizer.minimize(lambda: v * v)
    >>> v.numpy(), optimizer.loss_scale.numpy()
    (np.float32(0.0), np.float32(1024.0))
    """

    described_kind: ClassVar[str] = "optimizer"

    def __init__(
        self,
        inner_optimizer: Optimizer,
        dynamic: bool = True,
        initial_scale: float | None = None,
        dynamic_growth_steps: int | None = None,
        name: str | None = None,
    ) -> None:
        if not isinstance(dynamic, bool):
            raise TypeError(
                f"LossScaleOptimizer: dynamic must be True or False; got {dynamic!r} of type {type(dynamic).__name__}. "
                "tf.contrib.mixed_precision.LossScaleOptimizer takes a loss_scale_manager."
            )
        self.dynamic = dynamic
        self.initial_scale = 2.0**15 if initial_scale is None else float(initial_scale)
        self.dynamic_growth_steps = dynamic_growth_steps or 2000
        super().__init__(inner_optimizer, self._manager())
        self._scales_back = False

    def _manager(self) -> agog_optimizers.LossScaleManager:
        if not self.dynamic:
            return FixedLossScaleManager(self.initial_scale)
        return ExponentialUpdateLossScaleManager(
            self.initial_scale, self.dynamic_growth_steps, decr_every_n_nan_or_inf=1, decr_ratio=0.5
        )

    @property
    def inner_optimizer(self) -> Any:
        """The optimizer that takes the steps."""
        return self.optimizer

    @property
    def loss_scale(self) -> Any:
        """The present scale."""
        return self.loss_scale_manager.get_loss_scale()

    @property
    def iterations(self) -> Any:
        """How many steps the inner optimizer has taken."""
        return self.inner_optimizer.iterations

    @property
    def learning_rate(self) -> Any:
        """The inner optimizer's learning rate."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.inner_optimizer.learning_rate = value

    @property
    def lr(self) -> Any:
        """The same as ``learning_rate``."""
        return self.learning_rate

    @lr.setter
    def lr(self, value: Any) -> None:
        self.learning_rate = value

    def scale_loss(self, loss: Any) -> Any:
        """Scale a loss, and let the next `apply_gradients` scale its gradients back.

        Args:
            loss: the loss.

        Returns:
            The loss times the present scale.
        """
        self._scales_back = True
        return self.get_scaled_loss(loss)

    def get_unscaled_gradients(self, grads: Iterable[Any]) -> list[Any]:
        self._scales_back = False
        return super().get_unscaled_gradients(grads)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> None:
        if (replicas := present_replicas()) is not None:
            return replicas.with_sums(self.apply_gradients, grads_and_vars, global_step, name)
        pairs = list(grads_and_vars)
        if self._scales_back:
            gradients = self.get_unscaled_gradients([gradient for gradient, _ in pairs])
            pairs = [(gradient, variable) for gradient, (_, variable) in zip(gradients, pairs, strict=True)]
        super().apply_gradients(pairs, global_step, name)

    def apply(self, grads: Iterable[TensorLike], trainable_variables: Iterable[Variable]) -> None:
        """See `KerasOptimizer.apply`."""
        self.apply_gradients(zip(grads, trainable_variables, strict=True))

    def minimize(
        self, loss: Callable[[], Any], global_step: Any = None, var_list: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        """See `Optimizer.minimize`; a list in the second place are the variables, as in Keras."""
        if isinstance(global_step, (list, tuple)):
            global_step, var_list = None, global_step
        super().minimize(loss, global_step, var_list, *args, **kwargs)

    def get_config(self) -> dict[str, Any]:
        numbers = {name: getattr(self, name) for name in ("dynamic", "initial_scale", "dynamic_growth_steps")}
        return {"inner_optimizer": describe_optimizer(self.inner_optimizer), **numbers}

    @classmethod
    def from_config(cls, config: Any) -> Self:
        return cls(**{**config, "inner_optimizer": revive_optimizer(config["inner_optimizer"])})


def scaled_for(model: Any, optimizer: Any, wanted: bool = True) -> Any:
    """An optimizer, in a `LossScaleOptimizer` on request and if a layer has the policy ``"mixed_float16"``."""
    is_mixed = any(getattr(part, "_policy", None) == Policy("mixed_float16") for part in model._walk(set()))
    scales = isinstance(optimizer, agog_optimizers.LossScaleOptimizer) or not isinstance(optimizer, Optimizer)
    return LossScaleOptimizer(optimizer) if wanted and is_mixed and not scales else optimizer
