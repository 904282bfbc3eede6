"""Adam and its variants: steps along running means of gradients.

In all of them `learning_rate` is the step size, `m` and `v` are the slots of the first and second moments of the
gradients, `beta1` and `beta2` their decays, and `epsilon` keeps the quotient finite. `t` counts the steps.
"""

from __future__ import annotations

from agog_core.ops.updates.step import step
from agog_core.tensors.tensor import Tensor
from agog_core.variables.variable import Variable


@step
def apply_adam(
    variable: Variable,
    m: Variable,
    v: Variable,
    gradient: Tensor,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    use_nesterov: bool = False,
    weight_decay: float = 0.0,
) -> None:
    """One step of Adam, with the bias correction already in the learning rate.

    The learning rate is the step size times ``sqrt(1 - beta2 ** t) / (1 - beta1 ** t)``; then ``m += (gradient - m) *
    (1 - beta1)``, ``v += (gradient ** 2 - v) * (1 - beta2)``, ``variable -= learning_rate * m / (sqrt(v) + epsilon)``:
    the formulation before section 2.1 of D. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
    With Nesterov's momentum ``beta1 * m + (1 - beta1) * gradient`` is in the place of ``m`` in the step: T. Dozat,
    "Incorporating Nesterov momentum into Adam", ICLR 2016 workshop. A weight decay takes its share off the variable
    first: I. Loshchilov and F. Hutter, "Decoupled weight decay regularization", ICLR 2019.

    >>> from agog_core.tensors.constant import constant
    >>> w, m, v = Variable([1.0]), Variable([0.0]), Variable([0.0])
    >>> apply_adam(w, m, v, constant([1.0]), 0.5, 0.5, 0.75, 0.5)
    >>> w.numpy().tolist(), m.numpy().tolist(), v.numpy().tolist()
    ([0.75], [0.5], [0.25])
    """


@step
def apply_amsgrad(
    variable: Variable,
    m: Variable,
    v: Variable,
    largest: Variable,
    gradient: Tensor,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> None:
    """One step of AMSGrad: Adam that divides by the largest second moment so far.

    ``m``, ``v`` and the learning rate as for `apply_adam`; ``largest = maximum(largest, v)``, ``variable -=
    learning_rate * m / (sqrt(largest) + epsilon)``. S. Reddi, S. Kale and S. Kumar, "On the convergence of Adam and
    beyond", ICLR 2018.

    >>> from agog_core.tensors.constant import constant
    >>> w, m, v, x = (Variable([value]) for value in (1.0, 0.0, 0.0, 2.25))
    >>> apply_amsgrad(w, m, v, x, constant([1.0]), 1.0, 0.5, 0.75, 0.5)
    >>> w.numpy().tolist(), m.numpy().tolist(), v.numpy().tolist(), x.numpy().tolist()
    ([0.75], [0.5], [0.25], [2.25])
    """


@step
def apply_adamax(
    variable: Variable,
    m: Variable,
    v: Variable,
    gradient: Tensor,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> None:
    """One step of AdaMax, with the bias correction already in the learning rate.

    The learning rate is the step size over ``1 - beta1 ** t``; then ``m += (gradient - m) * (1 - beta1)``, ``v =
    maximum(beta2 * v, abs(gradient))``, ``variable -= learning_rate * m / (v + epsilon)``: ``v`` is the largest
    gradient. D. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015, section 7.1.

    >>> from agog_core.tensors.constant import constant
    >>> w, m, v = Variable([1.0]), Variable([0.0]), Variable([0.0])
    >>> apply_adamax(w, m, v, constant([1.0]), 1.0, 0.5, 0.75, 1.0)
    >>> w.numpy().tolist(), m.numpy().tolist(), v.numpy().tolist()
    ([0.75], [0.5], [1.0])
    """


@step
def apply_nadam(
    variable: Variable,
    m: Variable,
    v: Variable,
    gradient: Tensor,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    mean_share: float,
    gradient_share: float,
) -> None:
    """One step of Nadam: Adam whose direction is a sum of the mean and of the gradient, each with a share of its own.

    ``m`` and ``v`` as for `apply_adam`; ``variable -= learning_rate * (mean_share * m + gradient_share * gradient) /
    (sqrt(v) + epsilon)``, with the correction of ``v`` already in the learning rate and in epsilon, and that of ``m``
    in the shares. T. Dozat, "Incorporating Nesterov momentum into Adam", ICLR 2016 workshop, algorithm 2.

    >>> from agog_core.tensors.constant import constant
    >>> w, m, v = Variable([1.0]), Variable([0.0]), Variable([0.0])
    >>> apply_nadam(w, m, v, constant([1.0]), 0.5, 0.5, 0.75, 0.5, 0.5, 0.25)
    >>> w.numpy().tolist(), m.numpy().tolist(), v.numpy().tolist()
    ([0.75], [0.5], [0.25])
    """


@step
def apply_lamb(
    variable: Variable,
    m: Variable,
    v: Variable,
    gradient: Tensor,
    learning_rate: float,
    correction: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
) -> None:
    """One step of LAMB: a step of Adam, as long as a share of the variable.

    ``m`` and ``v`` as for `apply_adam`; ``direction = correction * m / (sqrt(v) + epsilon) + weight_decay * variable``,
    ``variable -= learning_rate * trust * direction``, where trust is the norm of the variable over that of the
    direction, or 1 where either is 0. The correction is ``sqrt(1 - beta2 ** t) / (1 - beta1 ** t)``, and epsilon comes
    times ``sqrt(1 - beta2 ** t)``. Y. You et al., "Large batch optimization for deep learning: training BERT in 76
    minutes", ICLR 2020.

    >>> from agog_core.tensors.constant import constant
    >>> w, m, v = Variable([1.0]), Variable([0.0]), Variable([0.0])
    >>> apply_lamb(w, m, v, constant([1.0]), 0.5, 1.0, 0.5, 0.75, 0.5, 0.0)
    >>> w.numpy().tolist(), m.numpy().tolist(), v.numpy().tolist()
    ([0.5], [0.5], [0.25])
    """


@step
def apply_lion(
    variable: Variable,
    m: Variable,
    gradient: Tensor,
    learning_rate: float,
    beta1: float,
    beta2: float,
    weight_decay: float,
) -> None:
    """One step of Lion: steps of one size, in the direction that two means of the gradients have.

    ``direction = sign(beta1 * m + (1 - beta1) * gradient)``, ``variable -= learning_rate * (direction + weight_decay *
    variable)``, ``m = beta2 * m + (1 - beta2) * gradient``. X. Chen et al., "Symbolic discovery of optimization
    algorithms", NeurIPS 2023.

    >>> from agog_core.tensors.constant import constant
    >>> w, m = Variable([1.0]), Variable([1.0])
    >>> apply_lion(w, m, constant([3.0]), 0.25, 0.5, 0.75, 0.0)
    >>> w.numpy().tolist(), m.numpy().tolist()
    ([0.75], [1.5])
    """
