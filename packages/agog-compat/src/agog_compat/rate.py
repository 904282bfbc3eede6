"""Rate: how fast a value changes with another one, from call to call, as ``tf.contrib.rate.Rate``."""

from __future__ import annotations

from agog_core import Checkpointable, Tensor, TensorLike, Variable, cast, div_no_nan, maximum

__all__ = ["Rate"]


class Rate(Checkpointable):
    """How much a value has changed since the last call, for each unit that another one has.

    Args:
        name: the rate's name.

    >>> rate = Rate()
    >>> [rate(values, denominator=steps).numpy().tolist() for values, steps in (([1.0], [1.0]), ([5.0], [3.0]))]
    [[1.0], [2.0]]
    """

    numer: Variable
    denom: Variable
    prev_values: Variable
    prev_denominator: Variable

    def __init__(self, name: str | None = None) -> None:
        self.name = name or type(self).__name__

    @property
    def variables(self) -> list[Variable]:
        """The rate's variables; none before the first call."""
        names = ("numer", "denom", "prev_values", "prev_denominator")
        return [getattr(self, name) for name in names if name in vars(self)]

    def build(self, values: TensorLike, denominator: TensorLike) -> None:
        """Make the variables, which the first call does.

        Args:
            values: a tensor of the values' shape.
            denominator: a tensor of the shape of what they are compared with.
        """
        for name, like in (("numer", values), ("denom", denominator)):
            previous = "prev_values" if name == "numer" else "prev_denominator"
            for each in (name, previous):
                zeros = cast(like, "float64") - cast(like, "float64")
                setattr(self, each, Variable(zeros, trainable=False, name=f"{self.name}/{each}"))

    def __call__(self, values: TensorLike, denominator: TensorLike) -> Tensor:
        """Take values into account.

        Args:
            values: a tensor.
            denominator: what they are compared with, such as the time.

        Returns:
            Their change since the last call, or from 0, divided by that of the denominator; 0 where that has not grown.
        """
        if not self.variables:
            self.build(values, denominator)
        x, y = cast(values, "float64"), cast(denominator, "float64")
        self.numer.assign(x - self.prev_values.value())
        self.denom.assign(y - self.prev_denominator.value())
        self.prev_values.assign(x)
        self.prev_denominator.assign(y)
        return div_no_nan(self.numer.value(), maximum(self.denom.value(), 0.0))
