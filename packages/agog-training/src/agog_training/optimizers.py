"""Optimizers: Keras's names, arguments and configs over the formulas of agog-optimizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.adam import apply_amsgrad
from agog_core.ops.updates.descent import apply_keras_momentum
from agog_layers.base.arguments import shown
from agog_layers.base.custom_objects import custom_object, custom_object_scope
from agog_optimizers import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdaMaxOptimizer,
    AdamOptimizer,
    MomentumOptimizer,
    RMSPropOptimizer,
)
from agog_training.decaying import AdamW, Lamb, Lion
from agog_training.keras_optimizer import KerasOptimizer
from agog_training.loss_scaling import LossScaleOptimizer
from agog_training.nadam import Nadam

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "KerasOptimizer",
    "Lamb",
    "Lion",
    "LossScaleOptimizer",
    "Nadam",
    "RMSprop",
    "deserialize",
    "get",
    "serialize",
]


class SGD(KerasOptimizer, MomentumOptimizer):
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

    step_op = staticmethod(apply_keras_momentum)

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
        """See `Optimizer.make_slots`."""
        return {"velocity": zeros_like(variable)}


class Adam(KerasOptimizer, AdamOptimizer):
    """Steps along a running mean of gradients, divided by the root of a running mean of their squares.

    D. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.

    Args:
        beta_1: how much of the mean of gradients is kept.
        beta_2: how much of the mean of squares is kept.
        epsilon: what is added to the root; None for 1e-7.
        amsgrad: whether the largest mean of squares so far takes the place of the mean; see `AMSGradOptimizer`.

    Other arguments: see `KerasOptimizer`.

    >>> v = Variable(5.0)
    >>> optimizer = Adam(learning_rate=0.1)
    >>> optimizer.minimize(lambda: v * v)
    >>> print(f"{v:.3f}", optimizer.learning_rate)
    4.900 0.1
    """

    def __init__(
        self,
        lr: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        amsgrad: bool = False,
        **today: Any,
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, beta_1, beta_2, _or_default(epsilon), today=today)
        self.beta_1, self.beta_2, self.amsgrad = beta_1, beta_2, amsgrad
        if amsgrad:
            self.step_op = apply_amsgrad

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        slots = super().make_slots(variable)
        return {**slots, "vhat": zeros_like(variable)} if self.amsgrad else slots


class RMSprop(KerasOptimizer, RMSPropOptimizer):
    """Gradients over the root of a running mean of their squares.

    T. Tieleman and G. Hinton, "Lecture 6.5: RMSProp", Coursera 2012. The mean starts at 0; the square of epsilon is
    added to it, where Keras adds epsilon to its root.

    Args:
        rho: how much of the mean is kept.
        epsilon: what keeps the quotient finite; None for 1e-7.
        momentum: the share of the last step that is taken again.
        centered: whether the square of the running mean of gradients is taken off the mean of their squares.

    Other arguments: see `KerasOptimizer`.
    """

    def __init__(
        self,
        lr: Any = 0.001,
        rho: float = 0.9,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        momentum: float = 0.0,
        centered: bool = False,
        **today: Any,
    ) -> None:
        given = {"epsilon": _or_default(epsilon), "centered": centered, "name": "RMSprop"}
        super().__init__(lr, decay, clipnorm, clipvalue, rho, momentum, today=today, **given)
        self.rho = rho

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        return {name: zeros_like(slot) for name, slot in super().make_slots(variable).items()}

    def hyperparameters(self) -> dict[str, Any]:
        return super().hyperparameters() | {"decay": self.rho, "epsilon": self.epsilon**2}


class Adagrad(KerasOptimizer, AdagradOptimizer):
    """Gradients over the root of the sum of their squares.

    J. Duchi et al., "Adaptive subgradient methods for online learning and stochastic optimization", JMLR 2011. The sum
    starts at the square of epsilon, where Keras adds epsilon to its root.

    Args:
        epsilon: what keeps the quotient finite; None for 1e-7.

    Other arguments: see `KerasOptimizer`.
    """

    def __init__(
        self,
        lr: Any = 0.01,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        **today: Any,
    ) -> None:
        self.epsilon = _or_default(epsilon)
        super().__init__(lr, decay, clipnorm, clipvalue, self.epsilon**2, today=today)


class Adadelta(KerasOptimizer, AdadeltaOptimizer):
    """Steps scaled by the size of former steps over the size of gradients.

    M. Zeiler, "ADADELTA: an adaptive learning rate method", arXiv:1212.5701, 2012.

    Args:
        rho: how much of the means is kept.
        epsilon: what keeps the quotient finite; None for 1e-7.

    Other arguments: see `KerasOptimizer`.
    """

    def __init__(
        self,
        lr: Any = 1.0,
        rho: float = 0.95,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        **today: Any,
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, rho, _or_default(epsilon), today=today)


class Adamax(KerasOptimizer, AdaMaxOptimizer):
    """Adam with a running maximum of gradients in place of the mean of their squares.

    D. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015, section 7.

    Args:
        beta_2: how much of the maximum is kept.

    Other arguments: see `Adam` and `KerasOptimizer`.
    """

    def __init__(
        self,
        lr: Any = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        **today: Any,
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, beta_1, beta_2, _or_default(epsilon), today=today)
        self.beta_1, self.beta_2 = beta_1, beta_2


def _or_default(epsilon: float | None) -> float:
    return 1e-7 if epsilon is None else epsilon


_by_name: dict[str, type[KerasOptimizer]] = {
    cls.__name__.lower(): cls for cls in (Adadelta, Adagrad, Adam, AdamW, Adamax, Lamb, Lion, Nadam, RMSprop, SGD)
}


def get(identifier: Any) -> Any:
    """The optimizer that an argument stands for.

    Args:
        identifier: a name in any case, an optimizer, or a dict with ``class_name`` and ``config``.

    Returns:
        The optimizer, or a new one.

    Raises:
        ValueError: the name is unknown.
        TypeError: the argument is none of these.

    >>> get("sgd").lr
    0.01
    """
    if isinstance(identifier, str):
        if own := custom_object(identifier):
            return own()
        if identifier.lower() not in _by_name:
            raise ValueError(f"Unknown optimizer {identifier!r}; the names are {', '.join(_by_name)}.")
        make: Any = _by_name[identifier.lower()]
        return make()
    if isinstance(identifier, dict):
        name = identifier["class_name"]
        known = LossScaleOptimizer if name == "LossScaleOptimizer" else None  # a name alone names no inner optimizer
        return (custom_object(name) or known or type(get(name))).from_config(identifier["config"])
    if isinstance(identifier, type) or not hasattr(identifier, "apply_gradients"):
        raise TypeError(f"An optimizer is a name, or an object with apply_gradients; got {shown(identifier)}.")
    return identifier


def serialize(optimizer: KerasOptimizer) -> dict[str, Any]:
    """Describe an optimizer by data.

    Args:
        optimizer: the optimizer.

    Returns:
        A dict with ``class_name`` and ``config``.

    >>> serialize(SGD(lr=0.5))["config"]["lr"]
    0.5
    """
    return {"class_name": type(optimizer).__name__, "config": optimizer.get_config()}


def deserialize(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """Make an optimizer from what `serialize` returned.

    Args:
        config: the description.
        custom_objects: names to optimizer classes of the program.

    Returns:
        A new optimizer; its slots are empty.

    Raises:
        ValueError: the class is unknown.

    >>> deserialize(serialize(SGD(lr=0.5))).lr
    0.5
    """
    with custom_object_scope(custom_objects or {}):
        optimizer = get(config)
    if isinstance(config, dict) and config["class_name"].lower() in _by_name:
        config["class_name"] = config["class_name"].lower()  # as programs of Keras 2 find it afterwards
    return optimizer
