"""Updates: counterparts of the steps of optimizers and of assignments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from counterparts.counterpart import Counterpart
from torch import optim


def assign_slice(variable: Any, value: Any, key: Any, operation: str = "update") -> Any:
    positions = torch.as_tensor(np.arange(variable.numel()).reshape(variable.shape)[key].copy())
    flat, value = variable.reshape(-1).clone(), torch.broadcast_to(value, positions.shape)
    flat[positions] = {
        "update": lambda: value,
        "add": lambda: flat[positions] + value,
        "subtract": lambda: flat[positions] - value,
    }[operation]()
    return flat.reshape(variable.shape)


def step(make: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """One step of an optimizer of PyTorch; its state is given in the order of the op's inputs."""

    def function(variable: Any, *rest: Any, **settings: Any) -> Any:
        *slots, gradient = (tensor.clone() for tensor in rest)
        parameter = variable.clone().requires_grad_()
        parameter.grad = gradient
        optimizer = make([parameter], **settings)
        state = optimizer.state[parameter]
        # So late that the averages of Adam need no correction; the op gets it in the learning rate.
        state.update(zip(names, slots, strict=True), step=torch.tensor(1e9))
        optimizer.step()
        return parameter.detach(), *(state[name] for name in names)

    return function


def adam(
    parameters: Any,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    use_nesterov: bool = False,
    weight_decay: float = 0.0,
) -> optim.Optimizer:
    # PyTorch multiplies the decay with the learning rate.
    return optim.AdamW(parameters, learning_rate, (beta1, beta2), epsilon, weight_decay=weight_decay / learning_rate)


def amsgrad(parameters: Any, learning_rate: float, beta1: float, beta2: float, epsilon: float) -> optim.Optimizer:
    return optim.Adam(parameters, learning_rate, (beta1, beta2), epsilon, amsgrad=True)


COUNTERPARTS = {
    "apply_adadelta": step(
        lambda parameters, learning_rate, rho, epsilon: optim.Adadelta(parameters, learning_rate, rho, epsilon),
        *("square_avg", "acc_delta"),
    ),
    "apply_adagrad": step(lambda parameters, learning_rate: optim.Adagrad(parameters, learning_rate, eps=0), "sum"),
    "apply_adam": Counterpart(
        step(adam, "exp_avg", "exp_avg_sq"),
        covers=lambda sample: not sample.kwargs.get("use_nesterov"),
    ),
    "apply_add": lambda variable, delta, scale: torch.add(variable, delta, alpha=scale),
    "apply_amsgrad": step(amsgrad, "exp_avg", "exp_avg_sq", "max_exp_avg_sq"),
    "apply_gradient_descent": step(lambda parameters, learning_rate: optim.SGD(parameters, learning_rate)),
    "apply_momentum": step(
        lambda parameters, learning_rate, momentum, use_nesterov: optim.SGD(
            parameters, learning_rate, momentum, nesterov=use_nesterov
        ),
        "momentum_buffer",
    ),
    "assign_slice": assign_slice,
}

_OTHER_EPSILON = "PyTorch adds epsilon at another place"
_NO_OPTIMIZER = "PyTorch has no such optimizer"

NO_COUNTERPART = {
    "apply_adagrad_da": _NO_OPTIMIZER,
    "apply_adamax": _OTHER_EPSILON,
    "apply_centered_rmsprop": _OTHER_EPSILON,
    "apply_ftrl": _NO_OPTIMIZER,
    "apply_keras_momentum": "PyTorch multiplies with the learning rate behind the momentum",
    "apply_lamb": _NO_OPTIMIZER,
    "apply_lion": _NO_OPTIMIZER,
    "apply_nadam": "PyTorch keeps the schedule of the momentum itself",
    "apply_proximal_adagrad": _NO_OPTIMIZER,
    "apply_proximal_gradient_descent": _NO_OPTIMIZER,
    "apply_rmsprop": _OTHER_EPSILON,
}
