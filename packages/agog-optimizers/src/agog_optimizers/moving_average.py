"""ExponentialMovingAverage: exponentially decaying averages of variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agog_core import Checkpointable, Variable, device
from agog_core.checkpointable import notify
from agog_core.ops.updates.descent import apply_add
from agog_core.tracers import late
from agog_optimizers.hyperparameters import Number, checked_number, number
from agog_optimizers.slots import Slots

__all__ = ["ExponentialMovingAverage"]


class Averages(Slots):
    """Variables and their averages, which are named after both. An average lives as long as its variable."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def name_of(self, variable: Variable) -> str:
        """The name of a variable's average, which need not exist yet, without ``:0``."""
        return f"{variable.name.removesuffix(':0')}/{self.name}"

    def begun(self, variable: Variable) -> Variable:
        """The average of a variable; a new one equals it, on its device, or is what a restore had waiting for it."""
        average = self.of.get(variable)
        if average is None:
            with device(variable.device):
                average = self.of[variable] = Variable(variable._current(), trainable=False)
                average._name = self.name_of(variable)  # whole: no name scope precedes it
            notify()
        return average

    def checkpoint_slots(self) -> Iterator[tuple[str, Variable, Variable]]:
        """See `Checkpointable.checkpoint_slots`."""
        for variable, average in list(self.of.items()):
            yield "average", variable, average


class ExponentialMovingAverage(Checkpointable):
    """Averages of variables in which a value counts less with each update.

    ``average -= (1 - decay) * (average - variable)`` at each `apply`. An average begins with the variable's value at
    the first one, so there is no bias to correct.

    Args:
        decay: the share of the average that stays: a number, a tensor or variable, or a function that returns one.
        num_updates: the number of updates so far, in the same form: the decay is at most ``(1 + num_updates) / (10 +
            num_updates)``, so that averages move faster at first; None for the decay alone.
        name: what the averages are named after.

    Raises:
        TypeError: the decay or the number of updates is no number.

    >>> v, averages = Variable(1.0, name="v"), ExponentialMovingAverage(0.75)
    >>> averages.apply([v])
    >>> v.assign(5.0).numpy()
    np.float32(5.0)
    >>> averages.apply([v])
    >>> averages.average(v).numpy(), averages.average_name(v)
    (np.float32(2.0), 'v/ExponentialMovingAverage')
    """

    def __init__(
        self,
        decay: Number,
        num_updates: Number | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self.decay = checked_number(name, "decay", decay)
        self.num_updates = None if num_updates is None else checked_number(name, "num_updates", num_updates)
        self._name = name
        self._averages = Averages(name)

    @property
    def name(self) -> str:
        """The name of the averages, part of their variables' names."""
        return self._name

    def apply(self, var_list: Iterable[Variable] | None = None) -> None:
        """Update the averages of variables; those of new ones are made.

        Args:
            var_list: the variables.

        Raises:
            ValueError: there is no list; programs in eager execution have no collection of all variables.
            TypeError: the list holds something else than variables of real numbers with fractions.
        """
        if var_list is None:
            raise ValueError(
                f"{self._name}: apply needs var_list in eager execution, where no collection holds all variables; pass "
                "model.trainable_variables or the like."
            )
        variables = list(var_list)
        for variable in variables:
            if not isinstance(variable, Variable) or not variable.dtype.is_floating:
                what = f"dtype {variable.dtype.name}" if isinstance(variable, Variable) else type(variable).__name__
                raise TypeError(f"{self._name}: apply takes variables of floating dtypes; got {variable!r} ({what}).")
        share = late(self._share)
        for variable in variables:
            average = self._averages.begun(variable)
            apply_add(average, variable._current() - average._current(), share)

    def _share(self) -> float:
        """The share of the variables in their averages at an update."""
        decay = number(self.decay)
        if self.num_updates is not None:
            updates = number(self.num_updates)
            decay = min(decay, (1 + updates) / (10 + updates))
        return 1 - decay

    def average(self, var: Variable) -> Variable | None:
        """The average of a variable.

        Args:
            var: the variable.

        Returns:
            The variable that holds the average, or None before the first `apply`.
        """
        return self._averages.of.get(var)

    def average_name(self, var: Variable) -> str:
        """The name of a variable's average, which need not exist yet.

        Args:
            var: the variable.

        Returns:
            The name, without ``:0``.
        """
        return self._averages.name_of(var)

    def variables_to_restore(self, moving_avg_variables: Iterable[Variable] | None = None) -> dict[str, Variable]:
        """Under which names variables find their averages in a checkpoint by name.

        Args:
            moving_avg_variables: the variables; None for those that have averages.

        Returns:
            Names of averages to the variables themselves, to pass to `tfe.Saver`.
        """
        variables = list(self._averages.of) if moving_avg_variables is None else moving_avg_variables
        return {self.average_name(variable): variable for variable in variables}

    def checkpoint_slots(self) -> Iterator[tuple[str, Variable, Variable]]:
        return self._averages.checkpoint_slots()
