"""Sharding: each process keeps its share of an optimizer's slots, and updates its share of the parameters.

S. Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter models", SC 2020, stage 1.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import agog_core as ag
from agog_core import IndexedSlices, Tensor, Variable
from agog_core.errors import InvalidArgumentError
from agog_core.processes import Share, keep_share
from agog_core.tracers import present_recorder
from agog_distribute.collectives.ops import all_gather
from agog_distribute.processes.groups import Group
from agog_optimizers import Optimizer
from agog_optimizers.slots import Slots

Pairs = list[tuple[Any, Variable]]


class Sharding:
    """The parts of variables that this process updates: flat variables of their own, for which the optimizer has slots.

    Args:
        owner: whose sharding it is, for errors.
        optimizer: takes the steps.
        group: the processes.

    Raises:
        InvalidArgumentError: a step of the optimizer needs all variables at once.
    """

    def __init__(self, owner: str, optimizer: Optimizer, group: Group) -> None:
        self.optimizer, self.group = optimizer, group
        if optimizer.step_unit == "all":
            raise InvalidArgumentError(
                f"{owner}: shard_state=True: a step of {type(optimizer).__name__} looks at all variables at once, and "
                "each process has a share of them; let that optimizer be the outer one, or clip gradients before."
            )
        self._parts = Slots()
        self._numbers = Slots()  # the variables in the order of their first steps, which is that of all processes
        self._next = 0

    def part(self, variable: Variable) -> Variable:
        """What this process updates of a variable, with the present value."""
        found: Variable | None = self._parts.of.get(variable)
        if found is None:
            self._numbers.of[variable], self._next = self._next, self._next + 1
        begin, end = self._range(variable, self.group.rank)
        value = ag.reshape(variable._current(), [-1])[begin:end]
        if found is None:
            found = self._parts.of[variable] = Variable(value, trainable=False, dtype=variable.dtype)
            found._name = variable._name  # after which the optimizer names its slots
        else:
            found.assign(value)
        return found

    def slot(self, variable: Variable, name: str) -> Variable | None:
        """This process's share of a slot."""
        part = self._parts.of.get(variable)
        return None if part is None else self.optimizer.get_slot(part, name)

    def slots(self) -> Iterator[tuple[str, Variable, Variable]]:
        """The shares of all slots: the name, the variable, and what this process has."""
        variables = {part: variable for variable, part in list(self._parts.of.items())}
        for name, part, slot in self.optimizer.checkpoint_slots():
            if part in variables:
                yield name, variables[part], self._noted(variables[part], slot)

    def make_slots(self, variable: Variable, names: Container[str]) -> dict[str, Variable]:
        """See `Checkpointable.make_checkpoint_slots`."""
        made = self.optimizer.make_checkpoint_slots(self.part(variable), names)
        return {name: self._noted(variable, slot) for name, slot in made.items()}

    def _noted(self, variable: Variable, slot: Variable) -> Variable:
        """A slot of which checkpoints know whose share it is."""
        if slot.shape == self._parts.of[variable].shape:
            keep_share(slot, Share(*self._range(variable, self.group.rank), tuple(variable._current()._shape)))
        return slot

    def apply(self, pairs: Pairs, global_step: Variable | None, name: str | None, **kwargs: Any) -> None:
        """Take a step: each process with its parts, which then are gathered."""
        present = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        own = [self.part(variable) for _, variable in present]
        parts = [(self._part_of(*pair), part) for pair, part in zip(present, own, strict=True)]
        if kwargs.get("decay_var_list") is not None:
            kwargs["decay_var_list"] = [self.part(variable) for variable in kwargs["decay_var_list"]]
        self.optimizer.apply_gradients(parts, global_step, name, **kwargs)
        variables = [variable for _, variable in present]
        for variable, value in zip(variables, self._gathered(variables), strict=True):
            variable.assign(value if variable._constraint is None else variable._constraint(value))

    def _range(self, variable: Variable, rank: int) -> tuple[int, int]:
        """Which elements of a variable a process has: a share, or all or none where a step looks at all at once."""
        count, size = math.prod(variable._current()._shape), self.group.size
        if self.optimizer.step_unit == "variable":
            return (0, count) if self._numbers.of[variable] % size == rank else (0, 0)
        return rank * count // size, (rank + 1) * count // size

    def _part_of(self, gradient: Any, variable: Variable) -> Any:
        begin, end = self._range(variable, self.group.rank)
        if type(gradient) is not IndexedSlices:
            return ag.reshape(ag.convert_to_tensor(gradient), [-1])[begin:end]
        width = math.prod(variable._current()._shape[1:])
        rows = ag.cast(gradient.indices, "int64")
        places = ag.reshape(rows[:, None] * width + ag.range(width, dtype="int64")[None, :], [-1])
        values = ag.reshape(gradient.values, [-1])
        recorder = present_recorder()
        if recorder is not None:  # how many there are must not depend on values
            local, factors = recorder.host(partial(_own, begin, end), [places], [ag.int64, values.dtype])
            return IndexedSlices(values * factors, local, (end - begin,))
        is_own = ag.logical_and(places >= begin, places < end)
        local = ag.boolean_mask(places, is_own) - begin
        return IndexedSlices(ag.boolean_mask(values, is_own), local, (end - begin,))

    def _gathered(self, variables: Sequence[Variable]) -> list[Tensor]:
        """The variables' new values, from all processes' parts."""
        found: dict[int, Tensor] = {}
        for dtype in dict.fromkeys(variable.dtype for variable in variables):
            same = [n for n, variable in enumerate(variables) if variable.dtype is dtype]
            ranges = [[self._range(variables[n], rank) for n in same] for rank in range(self.group.size)]
            lengths = [sum(end - begin for begin, end in each) for each in ranges]
            own = ag.concat([self._parts.of[variables[n]]._current() for n in same], 0)
            # Collectives take equal shapes.
            whole = all_gather(ag.pad(own, [[0, max(lengths) - lengths[self.group.rank]]]), self.group)
            pieces: dict[int, list[Tensor]] = {n: [] for n in same}
            for rank, each in enumerate(ranges):
                start = rank * max(lengths)
                for n, (begin, end) in zip(same, each, strict=True):
                    if end > begin:
                        pieces[n].append(whole[start : start + end - begin])
                    start += end - begin
            for n in same:
                flat = ag.concat(pieces[n], 0) if pieces[n] else whole[:0]
                found[n] = ag.reshape(flat, variables[n].shape.as_list())
        return [found[n] for n in range(len(variables))]


def _own(begin: int, end: int, places: Any) -> list[Any]:
    """Places within a share, and factors: 0 where a place is outside, for which the first one within stands."""
    numbers = np.asarray(places)
    is_own = (numbers >= begin) & (numbers < end)
    first = numbers[is_own][0] if is_own.any() else begin
    return [np.where(is_own, numbers, first) - begin, is_own.astype(np.float32)]
