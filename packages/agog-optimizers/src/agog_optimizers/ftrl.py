"""FtrlOptimizer: follow the regularized leader."""

from __future__ import annotations

from collections.abc import Mapping

from agog_core import Tensor, Variable, zeros_like
from agog_core.ops.updates.proximal import apply_ftrl
from agog_optimizers.hyperparameters import Number, number
from agog_optimizers.optimizer import Optimizer

__all__ = ["FtrlOptimizer"]


class FtrlOptimizer(Optimizer, step_op=apply_ftrl, step_unit="element", touches_rows_only=True):
    """Follow the regularized leader, for sparse linear models, as in TensorFlow 1.12.

    ``shrinking = gradient + 2 * l2_shrinkage * variable``; ``accum += gradient ** 2``, ``linear += shrinking - (new **
    -power - old ** -power) / learning_rate * variable``, where new and old are the values of ``accum``; ``variable =
    (l1 * sign(linear) - linear) / (accum ** -power / learning_rate + 2 * l2)`` where ``abs(linear) > l1``, else 0. H.
    B. McMahan et al., "Ad click prediction: a view from the trenches", KDD 2013.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one.
        learning_rate_power: the power of ``accum`` in the step size, at most 0, in the same form.
        initial_accumulator_value: what ``accum`` starts with, at least 0.
        l1_regularization_strength: the strength of the pull to exactly 0, at least 0, in the same form.
        l2_regularization_strength: the strength of the pull towards 0, at least 0, in the same form.
        name: the optimizer's name.
        accum_name: what the slots ``accum`` are named after; None for the optimizer's name.
        linear_name: what the slots ``linear`` are named after; None for the optimizer's name.
        l2_shrinkage_regularization_strength: the strength of a pull towards 0 that ``accum`` does not see, at least 0.

    Raises:
        ValueError: a number has the wrong sign.

    >>> v = Variable(5.0)
    >>> optimizer = FtrlOptimizer(0.5, initial_accumulator_value=0.0)
    >>> optimizer.minimize(lambda: v * v)
    >>> v.numpy(), optimizer.get_slot_names()
    (np.float32(4.5), ['accum', 'linear'])
    """

    learning_rate_power: Number
    l1_regularization_strength: Number
    l2_regularization_strength: Number
    l2_shrinkage_regularization_strength: Number

    def __init__(
        self,
        learning_rate: Number,
        learning_rate_power: Number = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Number = 0.0,
        l2_regularization_strength: Number = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: Number = 0.0,
    ) -> None:
        super().__init__(learning_rate, name)
        strengths = {
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        self.keep(**strengths, learning_rate_power=learning_rate_power)
        for argument, value in {**strengths, "initial_accumulator_value": initial_accumulator_value}.items():
            _check_sign(name, argument, value)
        _check_sign(name, "learning_rate_power", learning_rate_power, -1)
        self.initial_accumulator_value = initial_accumulator_value
        self.accum_name, self.linear_name = accum_name, linear_name
        self.slot_names = {"accum": accum_name or name, "linear": linear_name or name}

    def make_slots(self, variable: Variable) -> Mapping[str, Tensor]:
        return {"accum": zeros_like(variable) + self.initial_accumulator_value, "linear": zeros_like(variable)}


def _check_sign(optimizer: str, name: str, value: Number, sign: int = 1) -> None:
    if not callable(value) and sign * number(value) < 0:
        expected = "positive or zero" if sign > 0 else "negative or zero"
        raise ValueError(f"{optimizer}: {name} must be {expected}; got {value!r}.")
