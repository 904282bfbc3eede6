"""Weight averages: averages of the variables, for evaluation and saving."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from agog_core import TensorLike, Variable, device, equal
from agog_core.ops.updates.descent import apply_add
from agog_core.tracers import late
from agog_optimizers.host_variables import host_variable
from agog_optimizers.hyperparameters import Number
from agog_optimizers.moving_average import Averages, ExponentialMovingAverage
from agog_optimizers.optimizer import Optimizer
from agog_optimizers.wrapper import OptimizerWrapper

__all__ = ["MovingAverageOptimizer", "SWAOptimizer"]


class AveragingOptimizer(OptimizerWrapper, step_unit="all"):
    """Base of optimizers that keep averages: a subclass updates them after each step."""

    def __init__(self, opt: Optimizer, averages: Averages, name: str) -> None:
        super().__init__(opt, name)
        self._averages = averages

    def average(self, var: Variable) -> Variable | None:
        """The average of a variable.

        Args:
            var: the variable.

        Returns:
            The variable that holds the average, or None when there is none yet.
        """
        return self._averages.of.get(var)

    def swap(self) -> None:
        """Exchange all variables with their averages; a second call exchanges them back."""
        for variable, average in list(self._averages.of.items()):
            value = variable._current()
            variable.assign(average._current())
            average.assign(value)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Let the variables have the averages' values inside a ``with`` block, to evaluate or save a model.

        Returns:
            A context manager.

        >>> from agog_optimizers import GradientDescentOptimizer
        >>> v = Variable(1.0)
        >>> optimizer = SWAOptimizer(GradientDescentOptimizer(1.0), average_period=1)
        >>> for _ in range(2):
        ...     optimizer.minimize(lambda: 2.0 * v)
        >>> with optimizer.averaged():
        ...     print(v.numpy())
        -2.0
        >>> v.numpy()
        np.float32(-3.0)
        """
        self.swap()
        try:
            yield
        finally:
            self.swap()


class MovingAverageOptimizer(AveragingOptimizer):
    """Keeps an `ExponentialMovingAverage` of the variables that another optimizer changes.

    B. Polyak and A. Juditsky, "Acceleration of stochastic approximation by averaging", 1992.

    Args:
        opt: the optimizer that takes the steps.
        average_decay: the share of the averages that stays: a number, a tensor or variable, or a function.
        num_updates: see `ExponentialMovingAverage`.

    Raises:
        ValueError: ``opt`` is no optimizer.

    >>> from agog_optimizers import GradientDescentOptimizer
    >>> v = Variable(1.0)
    >>> optimizer = MovingAverageOptimizer(GradientDescentOptimizer(1.0), average_decay=0.75)
    >>> for _ in range(2):
    ...     optimizer.minimize(lambda: 2.0 * v)
    >>> v.numpy(), optimizer.average(v).numpy()
    (np.float32(-3.0), np.float32(-1.5))
    """

    def __init__(
        self,
        opt: Optimizer,
        average_decay: Number = 0.9999,
        num_updates: Number | None = None,
        sequential_update: bool = True,
    ) -> None:
        self.ema = ExponentialMovingAverage(average_decay, num_updates)
        super().__init__(opt, self.ema._averages, "MovingAverage")

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> None:
        """See `Optimizer.apply_gradients`; the averages follow the step."""
        pairs = list(grads_and_vars)
        super().apply_gradients(pairs, global_step, name)
        self.ema.apply([variable for gradient, variable in pairs if gradient is not None])

    def swapping_saver(self, *args: Any, **kwargs: Any) -> None:
        """See `averaged`: TensorFlow has this for graphs, and here it raises RuntimeError."""
        raise RuntimeError(
            "MovingAverageOptimizer.swapping_saver is not supported when eager execution is enabled. Save inside of "
            "`with optimizer.averaged():` instead."
        )


class SWAOptimizer(AveragingOptimizer):
    """Keeps the mean of the variables at regular times: stochastic weight averaging.

    P. Izmailov et al., "Averaging weights leads to wider optima and better generalization", UAI 2018. TensorFlow 1.12
    has no such optimizer.

    Args:
        opt: the optimizer that takes the steps.
        start_averaging: after how many steps the variables first count.
        average_period: how many steps later they count again.
        name: the optimizer's name.

    Raises:
        ValueError: ``opt`` is no optimizer, or a number is too small.

    >>> from agog_optimizers import GradientDescentOptimizer
    >>> v = Variable(1.0)
    >>> optimizer = SWAOptimizer(GradientDescentOptimizer(1.0), start_averaging=1, average_period=2)
    >>> for _ in range(3):
    ...     optimizer.minimize(lambda: 2.0 * v)
    >>> v.numpy(), optimizer.average(v).numpy()
    (np.float32(-5.0), np.float32(-3.0))
    """

    def __init__(self, opt: Optimizer, start_averaging: int = 0, average_period: int = 10, name: str = "SWA") -> None:
        if start_averaging < 0 or average_period < 1:
            raise ValueError(
                f"{name}: start_averaging must be at least 0 and average_period at least 1; got {start_averaging} and "
                f"{average_period}."
            )
        super().__init__(opt, Averages(name), name)
        self.start_averaging = max(start_averaging, 1)  # before the first step there is nothing to average
        self.average_period = average_period
        self.steps = host_variable(0, "int64", "steps")

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> None:
        """See `Optimizer.apply_gradients`; where it is time, the variables then count in the averages."""
        pairs = list(grads_and_vars)
        with device(None):
            since = self.steps._current() + (1 - self.start_averaging)
            has_begun = bool(since >= 0)
            is_time = has_begun and bool(equal(since % self.average_period, 0))
        super().apply_gradients(pairs, global_step, name)
        self.steps.assign_add(1)
        if not has_begun:
            return
        share = late(self._share)
        for gradient, variable in pairs:
            if gradient is None:
                continue
            average = self._averages.begun(variable)
            if is_time:
                apply_add(average, variable._current() - average._current(), share)

    def _share(self) -> float:
        """The share of the variables in their averages after a step."""
        return 1 / ((int(self.steps) - self.start_averaging) // self.average_period + 1)

    def non_slot_variables(self) -> list[Variable]:
        """See `Optimizer.non_slot_variables`; it is the count of steps."""
        return [self.steps]

    def checkpoint_slots(self) -> Iterator[tuple[str, Variable, Variable]]:
        """See `Checkpointable.checkpoint_slots`; they are the averages."""
        return self._averages.checkpoint_slots()
