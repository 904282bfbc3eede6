"""Descent: adding to variables in place, where nobody else holds their memory. Tapes do not see it."""

from __future__ import annotations

from agog_core.calls.call import update
from agog_core.dispatch.op import Op
from agog_core.dtypes import ORDERED
from agog_core.ops.updates.step import first_shape, step
from agog_core.tensors.tensor import Tensor
from agog_core.variables.variable import Variable


def apply_add(variable: Variable, delta: Tensor, scale: float) -> None:
    """Add a multiple of a tensor to a variable: ``variable += scale * delta``.

    >>> v = Variable([1.0, 2.0])
    >>> apply_add(v, v.value(), 2)
    >>> v.numpy().tolist()
    [3.0, 6.0]
    """
    update(_apply_add, [variable], [delta], scale=scale)


_apply_add = Op(
    "apply_add",
    apply_add,
    inputs=["variable", "delta"],
    shape=first_shape,
    dtypes=ORDERED,
    updates=["variable"],
    late=["scale"],
)


@step
def apply_gradient_descent(variable: Variable, gradient: Tensor, learning_rate: float) -> None:
    """One step of gradient descent: ``variable -= learning_rate * gradient``.

    >>> from agog_core.tensors.constant import constant
    >>> v = Variable([1.0, 2.0])
    >>> apply_gradient_descent(v, constant([1.0, 1.0]), 0.5)
    >>> v.numpy().tolist()
    [0.5, 1.5]
    """


@step
def apply_momentum(
    variable: Variable,
    accumulation: Variable,
    gradient: Tensor,
    learning_rate: float,
    momentum: float,
    use_nesterov: bool,
) -> None:
    """One step of gradient descent with momentum.

    ``accumulation = momentum * accumulation + gradient``, then ``variable -= learning_rate * accumulation``; with
    Nesterov's momentum ``variable -= learning_rate * (gradient + momentum * accumulation)``. I. Sutskever et al., "On
    the importance of initialization and momentum in deep learning", ICML 2013, in the form that TensorFlow 1.12 has.

    >>> from agog_core.tensors.constant import constant
    >>> v, slot = Variable([1.0]), Variable([2.0])
    >>> apply_momentum(v, slot, constant([1.0]), 0.5, 0.5, False)
    >>> v.numpy().tolist(), slot.numpy().tolist()
    ([0.0], [2.0])
    """


@step
def apply_keras_momentum(
    variable: Variable,
    velocity: Variable,
    gradient: Tensor,
    learning_rate: float,
    momentum: float,
    use_nesterov: bool,
) -> None:
    """One step of gradient descent with a velocity, which holds the learning rates of the steps before.

    ``velocity = momentum * velocity - learning_rate * gradient``, then ``variable += velocity``; with Nesterov's
    momentum ``variable += momentum * velocity - learning_rate * gradient``. I. Sutskever et al., "On the importance of
    initialization and momentum in deep learning", ICML 2013, in the form that Keras has.

    >>> from agog_core.tensors.constant import constant
    >>> v, slot = Variable([1.0]), Variable([2.0])
    >>> apply_keras_momentum(v, slot, constant([1.0]), 0.5, 0.5, False)
    >>> v.numpy().tolist(), slot.numpy().tolist()
    ([1.5], [0.5])
    """
