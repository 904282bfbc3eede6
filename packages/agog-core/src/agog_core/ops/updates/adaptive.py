"""Adaptive: steps with a size for each element, by the squares of its gradients.

`accumulation` and the other slots have the variable's shape; `learning_rate` is the step size, `rho`, `decay` and
`momentum` are the shares of slots that stay, and `epsilon` keeps the quotient finite.
"""

from __future__ import annotations

from agog_core.ops.updates.step import step
from agog_core.tensors.tensor import Tensor
from agog_core.variables.variable import Variable


@step
def apply_adadelta(
    variable: Variable,
    accumulation: Variable,
    accumulated_update: Variable,
    gradient: Tensor,
    learning_rate: float,
    rho: float,
    epsilon: float,
) -> None:
    """One step of Adadelta.

    ``accumulation = rho * accumulation + (1 - rho) * gradient ** 2``, ``step = gradient * sqrt(accumulated_update +
    epsilon) / sqrt(accumulation + epsilon)``, ``accumulated_update = rho * accumulated_update + (1 - rho) * step **
    2``, ``variable -= learning_rate * step``. M. Zeiler, "ADADELTA: an adaptive learning rate method", 2012.

    >>> from agog_core.tensors.constant import constant
    >>> w, a, u = Variable([1.0]), Variable([0.0]), Variable([0.5])
    >>> apply_adadelta(w, a, u, constant([1.0]), 1.0, 0.5, 0.5)
    >>> print(f"{w[0]:.3f} {a[0]:.3f} {u[0]:.3f}")
    0.000 0.500 0.750
    """


@step
def apply_adagrad(variable: Variable, accumulation: Variable, gradient: Tensor, learning_rate: float) -> None:
    """One step of Adagrad.

    ``accumulation += gradient ** 2``, ``variable -= learning_rate * gradient / sqrt(accumulation)``. J. Duchi, E. Hazan
    and Y. Singer, "Adaptive subgradient methods for online learning and stochastic optimization", JMLR 12, 2011.

    >>> from agog_core.tensors.constant import constant
    >>> w, a = Variable([1.0]), Variable([3.0])
    >>> apply_adagrad(w, a, constant([1.0]), 1.0)
    >>> w.numpy().tolist(), a.numpy().tolist()
    ([0.5], [4.0])
    """


@step
def apply_adagrad_da(
    variable: Variable,
    gradient_sum: Variable,
    square_sum: Variable,
    gradient: Tensor,
    learning_rate: float,
    l1: float,
    l2: float,
    step: int,
) -> None:
    """One step of Adagrad with dual averaging: the variable is a function of the slots alone.

    ``gradient_sum += gradient``, ``square_sum += gradient ** 2``, ``variable = -learning_rate * shrunk / (l2 * step *
    learning_rate + sqrt(square_sum))``, where ``shrunk`` is the sum of gradients, moved towards 0 by ``l1 * step`` at
    most, and ``step`` counts from 1. J. Duchi, E. Hazan and Y. Singer, "Adaptive subgradient methods for online
    learning and stochastic optimization", JMLR 12, 2011.

    >>> from agog_core.tensors.constant import constant
    >>> w, s, q = Variable([9.0]), Variable([0.0]), Variable([3.0])
    >>> apply_adagrad_da(w, s, q, constant([1.0]), 1.0, 0.0, 0.0, 1)
    >>> w.numpy().tolist(), s.numpy().tolist(), q.numpy().tolist()
    ([-0.5], [1.0], [4.0])
    """


@step
def apply_rmsprop(
    variable: Variable,
    mean_square: Variable,
    accumulation: Variable,
    gradient: Tensor,
    learning_rate: float,
    decay: float,
    momentum: float,
    epsilon: float,
) -> None:
    """One step of RMSProp.

    ``mean_square = decay * mean_square + (1 - decay) * gradient ** 2``, ``accumulation = momentum * accumulation +
    learning_rate * gradient / sqrt(mean_square + epsilon)``, ``variable -= accumulation``. T. Tieleman and G. Hinton,
    "Lecture 6.5: RMSProp", Coursera 2012, in the form that TensorFlow 1.12 has.

    >>> from agog_core.tensors.constant import constant
    >>> w, q, a = Variable([1.0]), Variable([0.0]), Variable([0.0])
    >>> apply_rmsprop(w, q, a, constant([2.0]), 1.0, 0.5, 0.5, 2.0)
    >>> w.numpy().tolist(), q.numpy().tolist(), a.numpy().tolist()
    ([0.0], [2.0], [1.0])
    """


@step
def apply_centered_rmsprop(
    variable: Variable,
    mean_square: Variable,
    mean: Variable,
    accumulation: Variable,
    gradient: Tensor,
    learning_rate: float,
    decay: float,
    momentum: float,
    epsilon: float,
) -> None:
    """One step of RMSProp that divides by an estimate of the variance.

    As `apply_rmsprop`, with ``mean = decay * mean + (1 - decay) * gradient`` and ``sqrt(mean_square - mean ** 2 +
    epsilon)`` as divisor. A. Graves, "Generating sequences with recurrent neural networks", 2013.

    >>> from agog_core.tensors.constant import constant
    >>> w, q, m, a = (Variable([value]) for value in (1.0, 0.0, 0.0, 0.0))
    >>> apply_centered_rmsprop(w, q, m, a, constant([2.0]), 1.0, 0.5, 0.5, 3.0)
    >>> w.numpy().tolist(), q.numpy().tolist(), m.numpy().tolist(), a.numpy().tolist()
    ([0.0], [2.0], [1.0], [1.0])
    """
