"""Optimizers: Keras's names, arguments and configs for the optimizers of agog-optimizers, which have the formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agog_core import Tensor, TensorLike, Variable, clip_by_norm, clip_by_value, zeros_like
from agog_layers.base.arguments import shown
from agog_layers.base.configured import Configured, custom_object, custom_object_scope
from agog_optimizers import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdaMaxOptimizer,
    AdamOptimizer,
    MomentumOptimizer,
    NadamOptimizer,
    Optimizer,
    RMSPropOptimizer,
)
from agog_optimizers.hyperparameters import checked_number

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "Adamax",
    "KerasOptimizer",
    "Nadam",
    "RMSprop",
    "deserialize",
    "get",
    "serialize",
]


class KerasOptimizer(Configured, Optimizer):
    """What Keras's optimizers have beside those of ``tf.train``: they count steps, decay, and clip gradients.

    Args:
        lr: the learning rate.
        decay: the learning rate of step n, from 0, is ``lr / (1 + decay * n)``.
        clipnorm: the largest norm of each gradient; None for any.
        clipvalue: the largest absolute value in gradients; None for any.
        *args: the arguments after the learning rate of the optimizer that has the formula.
        **kwargs: further arguments of that optimizer.
    """

    def __init__(
        self, lr: Any, decay: float, clipnorm: float | None, clipvalue: float | None, *args: Any, **kwargs: Any
    ) -> None:
        given = {"lr": lr, "decay": decay, "clipnorm": clipnorm, "clipvalue": clipvalue}
        for name, value in given.items():
            if value is not None or name in ("lr", "decay"):
                checked_number(type(self).__name__, name, value)
        super().__init__(self._decayed, *args, **kwargs)
        self.lr, self.decay, self.clipnorm, self.clipvalue = lr, decay, clipnorm, clipvalue
        self.iterations = Variable(0, trainable=False, name="iterations", dtype="int64")

    def _shown(self) -> dict[str, Any]:
        kept = super()._shown()
        del kept["learning_rate"]
        own = {"lr": self.lr, "decay": self.decay, "clipnorm": self.clipnorm, "clipvalue": self.clipvalue}
        return {name: value for name, value in own.items() if value or name == "lr"} | kept

    def _decayed(self) -> float:
        rate = float(self.lr() if callable(self.lr) else self.lr)
        return rate / (1 + self.decay * int(self.iterations)) if self.decay else rate

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> None:
        """See `Optimizer.apply_gradients`."""
        pairs = [(gradient if gradient is None else self._clipped(gradient), v) for gradient, v in grads_and_vars]
        super().apply_gradients(pairs, global_step, name)
        self.iterations.assign_add(1)

    def minimize(
        self, loss: Callable[[], Any], global_step: Any = None, var_list: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        """See `Optimizer.minimize`; a list in the second place are the variables, as Keras has it."""
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


class SGD(KerasOptimizer, MomentumOptimizer):
    """Gradient descent, with momentum.

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
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, momentum, name="SGD", use_nesterov=nesterov)
        self.nesterov = nesterov


class Adam(KerasOptimizer, AdamOptimizer):
    """Steps along a running mean of gradients, divided by the root of a running mean of their squares.

    D. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.

    Args:
        beta_1: how much of the mean of gradients is kept.
        beta_2: how much of the mean of squares is kept.
        epsilon: what is added to the root; None for 1e-7.

    Other arguments: see `KerasOptimizer`.
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
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, beta_1, beta_2, _or_default(epsilon))
        self.beta_1, self.beta_2 = beta_1, beta_2


class RMSprop(KerasOptimizer, RMSPropOptimizer):
    """Gradients over the root of a running mean of their squares.

    T. Tieleman and G. Hinton, "Lecture 6.5: RMSProp", Coursera 2012. The mean starts at 0; the square of epsilon is
    added to it, where Keras adds epsilon to its root.

    Args:
        rho: how much of the mean is kept.
        epsilon: what keeps the quotient finite; None for 1e-7.

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
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, rho, epsilon=_or_default(epsilon), name="RMSprop")
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
    ) -> None:
        self.epsilon = _or_default(epsilon)
        super().__init__(lr, decay, clipnorm, clipvalue, self.epsilon**2)


class Adadelta(KerasOptimizer, AdadeltaOptimizer):
    """Steps whose size is that of the last ones, over that of the gradients.

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
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, rho, _or_default(epsilon))


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
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, beta_1, beta_2, _or_default(epsilon))
        self.beta_1, self.beta_2 = beta_1, beta_2


class Nadam(KerasOptimizer, NadamOptimizer):
    """Adam with Nesterov's momentum.

    T. Dozat, "Incorporating Nesterov momentum into Adam", ICLR workshop 2016; without a schedule for ``beta_1``.

    Arguments: see `Adam` and `KerasOptimizer`.
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
    ) -> None:
        super().__init__(lr, decay, clipnorm, clipvalue, beta_1, beta_2, _or_default(epsilon))
        self.beta_1, self.beta_2 = beta_1, beta_2


def _or_default(epsilon: float | None) -> float:
    return 1e-7 if epsilon is None else epsilon


_by_name: dict[str, type[KerasOptimizer]] = {
    cls.__name__.lower(): cls for cls in (Adadelta, Adagrad, Adam, Adamax, Nadam, RMSprop, SGD)
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
        return (custom_object(name) or type(get(name))).from_config(identifier["config"])
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
        return get(config)
