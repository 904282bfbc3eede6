"""SGD: gradient descent with Keras's name, arguments and momentum."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.descent import apply_keras_momentum
from agog_optimizers import MomentumOptimizer
from agog_training.optimizers.keras_optimizer import KerasOptimizer

__all__ = ["SGD"]


class SGD(KerasOptimizer, MomentumOptimizer, step_op=apply_keras_momentum, step_unit="element"):
    """Gradient descent, with momentum.

    ``velocity = momentum * velocity - lr * gradient``, then ``variable += velocity``; with Nesterov's momentum
    ``variable += momentum * velocity - lr * gradient``. So the velocity holds the learning rates of the steps before,
    which `MomentumOptimizer` of ``tf.train`` multiplies with behind its accumulation.

    Args:
        momentum: the share of the last step that is taken again.
        nesterov: whether to use Nesterov's momentum.

    Other arguments: see `KerasOptimizer`.

    >>> v = Variable(5.0)
    >>> SGD(lr=0.1).minimize(lambda: v * v)
    >>> v.numpy()
    np.float32(4.0)
    """

    def __init__(
        self,
        lr: Any = 0.01,
        momentum: float = 0.0,
        decay: float = 0.0,
        nesterov: bool = False,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        **today: Any,
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, momentum, name="SGD", use_nesterov=nesterov, today=today)
        self.nesterov = nesterov

    def make_slots(self, variable: Variable) -> dict[str, Tensor]:
        return {"velocity": zeros_like(variable)}
