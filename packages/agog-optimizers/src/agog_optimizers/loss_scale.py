"""Loss scales: factors against underflow and overflow of gradients in half precision."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from agog_core import Checkpointable, Tensor, constant, device, py_func
from agog_optimizers.host_variables import host_variable

__all__ = ["ExponentialUpdateLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]


class LossScaleManager(Checkpointable):
    """Base of what says by how much losses are scaled."""

    def get_loss_scale(self) -> Tensor:
        """The present scale.

        Returns:
            The factor, a scalar of float32.
        """
        raise NotImplementedError(f"{type(self).__name__}.get_loss_scale is not implemented; it returns a factor.")

    def update_loss_scale(self, finite_grads: bool) -> None:
        """Take note of a step.

        Args:
            finite_grads: whether all gradients were finite.
        """
        raise NotImplementedError(f"{type(self).__name__}.update_loss_scale is not implemented; it may do nothing.")


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays.

    Args:
        loss_scale: the factor, at least 1.

    Raises:
        ValueError: the factor is less than 1.

    >>> FixedLossScaleManager(128.0).get_loss_scale().numpy()
    np.float32(128.0)
    """

    def __init__(self, loss_scale: float) -> None:
        self._loss_scale = _at_least_one("FixedLossScaleManager: loss_scale", loss_scale)

    def get_loss_scale(self) -> Tensor:
        return constant(self._loss_scale, "float32")

    def update_loss_scale(self, finite_grads: bool) -> None:
        pass


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows as long as gradients are finite, and falls when they are not.

    P. Micikevicius et al., "Mixed precision training", ICLR 2018.

    Args:
        init_loss_scale: the factor to begin with, at least 1.
        incr_every_n_steps: after how many steps in a row with finite gradients the factor grows.
        decr_every_n_nan_or_inf: after how many steps with others the factor falls.
        incr_ratio: by how much it grows.
        decr_ratio: by how much it falls, down to 1 at the least.

    Raises:
        ValueError: a number is out of its range.

    >>> scale = ExponentialUpdateLossScaleManager(8.0, incr_every_n_steps=2, decr_every_n_nan_or_inf=1, decr_ratio=0.5)
    >>> for is_finite in (True, True, False):
    ...     scale.update_loss_scale(is_finite)
    ...     print(scale.get_loss_scale().numpy())
    8.0
    16.0
    8.0
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        owner = "ExponentialUpdateLossScaleManager"
        start = _at_least_one(f"{owner}: init_loss_scale", init_loss_scale)
        self.incr_every_n_steps = _at_least_one(f"{owner}: incr_every_n_steps", incr_every_n_steps)
        self.decr_every_n_nan_or_inf = _at_least_one(f"{owner}: decr_every_n_nan_or_inf", decr_every_n_nan_or_inf)
        self.incr_ratio = _at_least_one(f"{owner}: incr_ratio", incr_ratio)
        if not 0 < decr_ratio <= 1:
            raise ValueError(f"{owner}: decr_ratio must be in (0, 1]; got {decr_ratio!r}.")
        self.decr_ratio = decr_ratio
        self.loss_scale = host_variable(start, "float32", "loss_scale")
        self.num_good_steps = host_variable(0, "int64", "good_steps")
        self.num_bad_steps = host_variable(0, "int64", "bad_steps")

    def get_loss_scale(self) -> Tensor:
        return self.loss_scale._current()

    def update_loss_scale(self, finite_grads: bool) -> None:
        numbers = [variable._current() for variable in (self.loss_scale, self.num_good_steps, self.num_bad_steps)]
        with device(None):
            scale, good, bad = py_func(partial(self._updated, finite_grads), numbers, ["float32", "int64", "int64"])
            self.loss_scale.assign(scale)
            self.num_good_steps.assign(good)
            self.num_bad_steps.assign(bad)

    def _updated(self, finite_grads: bool, *numbers: Any) -> list[Any]:
        """The scale and the numbers of good and bad steps, after a step more."""
        scale, good, bad = float(numbers[0]), int(numbers[1]), int(numbers[2])
        if finite_grads:
            good += 1
            if good >= self.incr_every_n_steps:
                larger = scale * self.incr_ratio
                scale, good, bad = larger if larger < _LARGEST else scale, 0, 0
        else:
            good, bad = 0, bad + 1
            if bad >= self.decr_every_n_nan_or_inf:
                scale, bad = max(1.0, scale * self.decr_ratio), 0
        return [constant(scale, "float32"), constant(good, "int64"), constant(bad, "int64")]


_LARGEST = math.ldexp(1.0, 128)  # what float32 holds is less


def _at_least_one(what: str, value: float) -> float:
    if not value >= 1:
        raise ValueError(f"{what} must be at least 1; got {value!r}.")
    return value
