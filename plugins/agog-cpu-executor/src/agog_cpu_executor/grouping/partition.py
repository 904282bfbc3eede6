"""Partition: the groups of steps that compilers take, each as large as possible.

A group computes elements of one shape, reductions of these along their last axes, and values with one number per row of
the results. It may also have reductions along other axes, such as sums of rows, whose results it does not use. It runs
as one step, so no step outside may need one of its results and give one of its inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agog_core.compiler import Compiler
from agog_core.plugin import load_reference
from agog_cpu_executor.grouping.groups import Group, compiled, is_worth_it
from agog_cpu_executor.grouping.primitives import first_axis, is_of_rows, primitive_of, spec_of
from agog_cpu_executor.grouping.takes import Takes, takes_of
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.kinds import ENDING, FUSIBLE, IN_ORDER, RAISING, Kind, Source
from agog_cpu_executor.program.steps import ReduceStep, Step, UfuncStep, Value, ViewStep

_MOST_STEPS = 400
_MOST_INPUTS = 12  # of a group without reductions, for which all of them have to be there at once


def group(
    steps: Sequence[Step], wanted: Iterable[Value], homes: dict[Value, Value], compiler: Compiler, exact: bool = True
) -> list[Step]:
    """The steps, with those that a compiler takes put together.

    Args:
        steps: the steps of a program.
        wanted: what it gives.
        homes: new values of variables, to their values before.
        compiler: what compiles groups.
        exact: whether results have NumPy's bits also where the compiler declares tolerances.
    """
    takes, build = takes_of(compiler), load_reference(compiler.compile)
    kept = set(wanted)
    for has_reductions in (True, False):  # a compiler may take groups without reductions only
        found = _Grouping(steps, takes, has_reductions)
        units = found.order
        made = [compiled(unit, found.users, kept, homes, build, compiler, exact) for unit in units]
        steps = [step for each in made for step in each]
        if not any(_is_left(unit, each) for unit, each in zip(units, made, strict=True)):
            break
    return list(steps)


def _is_left(unit: Step | Group, made: list[Step]) -> bool:
    """Whether the compiler has rejected a group with reductions, and might take parts of it."""
    return isinstance(unit, Group) and unit.first is not None and made is unit.steps and is_worth_it(unit)


class _Grouping:
    def __init__(self, steps: Sequence[Step], takes: Takes, has_reductions: bool) -> None:
        self.steps, self.takes, self.has_reductions = steps, takes, has_reductions
        self.place = {step: n for n, step in enumerate(steps)}
        self.made = {value: step for step in steps for value in step.outputs}
        self.before: dict[Step, Step] = {}  # the step before it that it may not overtake
        last = guard = None
        for step in steps:
            if step.kind in IN_ORDER or step.draws:
                if last is not None:
                    self.before[step] = last
                last, guard = step, step if step.kind in ENDING else guard
            elif step.kind in RAISING and guard is not None:  # which the guard may be there for
                self.before[step] = guard
        self.direct = {step: self._direct(step) for step in steps}
        self.answers: dict[Any, bool] = {}  # whether steps are taken, by all that it depends on
        self.of: dict[Step, Group] = {}
        for step in steps:
            if self._is_taken(step):
                self._join(step)
        self._divide()
        self.order = self._ordered()
        self.users: dict[Value, set[Step | Group]] = {}  # of each value and of its views, once all groups are made
        for step in steps:
            for value in step.inputs:
                for each in (value, value.root):
                    self.users.setdefault(each, set()).add(self.unit(step))

    def _is_taken(self, step: Step) -> bool:
        """Whether the compiler takes a step; equal steps are asked about once."""
        values = (*step.inputs, *step.outputs)
        if step.kind not in FUSIBLE or any(value.array is None for value in values):
            return False
        arrays = [(values.index(x), x.array.dtype, x.array.shape, x.array.strides) for x in values]
        key = step.kind, step.name, _facts(step), step.outputs[0].whole is None, *arrays
        if key not in self.answers:
            self.answers[key] = self._asked(step)
        return self.answers[key]

    def _asked(self, step: Step) -> bool:
        [result] = step.outputs
        if not (self.has_reductions and step.inputs[0].array.ndim if step.kind is Kind.REDUCE else result.array.ndim):
            return False
        values = list(dict.fromkeys((*step.inputs, result)))
        if any(value.array.dtype.hasobject or not value.array.size for value in values):
            return False
        primitive = primitive_of(step, {value: n for n, value in enumerate(values)})
        if primitive is None or (result.whole is None and not layouts.is_dense(result.array)):
            return False
        return self.takes(primitive, [spec_of(value) for value in values])

    def unit(self, step: Step) -> Step | Group:
        """The group of a step, or the step itself."""
        return self.of.get(step, step)

    def needs(self, unit: Step | Group) -> Iterator[Step | Group]:
        """What has to run before a unit."""
        for step in unit.steps if isinstance(unit, Group) else (unit,):
            for each in self.direct[step]:
                if (other := self.of.get(each, each)) is not unit:
                    yield other

    def _direct(self, step: Step) -> list[Step]:
        """The steps that have to run before a step."""
        found = [self.made[value] for value in step.inputs if value in self.made]
        return [*found, self.before[step]] if step in self.before else found

    def _reaches(self, starts: Iterable[Step | Group], target: Group) -> bool:
        """Whether any of some units needs a group, directly or through others."""
        of, place, direct = self.of, self.place, self.direct
        first = place[target.steps[0]]
        todo, seen = list(starts), set()
        while todo:
            unit = todo.pop()
            if unit is target:
                return True
            steps = unit.steps if isinstance(unit, Group) else (unit,)
            if unit in seen or place[steps[-1]] <= first:
                continue
            seen.add(unit)
            todo += [of.get(each, each) for step in steps for each in direct[step] if each in of or place[each] > first]
        return False

    def _join(self, step: Step) -> None:
        operands = [self.made[value] for value in step.inputs if value in self.made]
        groups = dict.fromkeys(self.of[each] for each in operands if each in self.of)
        mine = None
        for other in groups:
            if mine is None:
                others = [self.unit(each) for each in operands if self.of.get(each) is not other]
                if self._fits(step, other) and not self._reaches(others, other):
                    self._add(step, other)
                    mine = other
            elif self._may_merge(mine, other):
                for each in other.steps:
                    self.of[each] = mine
                mine.steps = sorted([*mine.steps, *other.steps], key=self.place.__getitem__)
                mine.first = other.first if mine.first is None else mine.first
        if mine is None:
            shape = (step.inputs if step.kind is Kind.REDUCE else step.outputs)[0].array.shape
            self._add(step, Group(shape, []))

    def _add(self, step: Step, into: Group) -> None:
        self.of[step] = into
        into.steps.append(step)
        if isinstance(step, ReduceStep) and (first := first_axis(step)) is not None:
            into.first = first

    def _fits(self, step: Step, into: Group) -> bool:
        """Whether a step computes elements, a reduction, or a number per row of a group."""
        if len(into.steps) >= _MOST_STEPS:
            return False
        if isinstance(step, ReduceStep):
            first = first_axis(step)
            is_of_elements = step.inputs[0].array.shape == into.shape and not self._is_row(step.inputs[0], into)
            return is_of_elements and (first is None or into.first in (None, first))
        if any(self._is_inside(value, into) and is_of_rows(self.made[value]) for value in step.inputs):
            return False
        shape = step.outputs[0].array.shape
        rows = [self._is_row(value, into) for value in step.inputs if self._is_inside(value, into)]
        if shape in into.rows and shape != into.shape:
            return all(rows)
        kept = into.rows[-1:]
        return shape == into.shape and all(
            value.array.shape in kept
            for value in step.inputs
            if self._is_inside(value, into) and self._is_row(value, into)
        )

    def _is_inside(self, value: Value, group: Group) -> bool:
        return value in self.made and self.of.get(self.made[value]) is group

    def _is_row(self, value: Value, group: Group) -> bool:
        return value.array.shape in group.rows and value.array.shape != group.shape

    def _may_merge(self, one: Group, other: Group) -> bool:
        if one.shape != other.shape or (one.first != other.first and None not in (one.first, other.first)):
            return False
        if len(one.steps) + len(other.steps) > _MOST_STEPS:
            return False
        both = (*one.steps, *other.steps)
        given = {value for step in both if is_of_rows(step) for value in step.outputs}
        if any(value in given for step in both for value in step.inputs):
            return False
        return not any(
            self._reaches([unit for unit in self.needs(a) if unit is not b], b) for a, b in ((one, other), (other, one))
        )

    def _divide(self) -> None:
        """Halve groups with many inputs, such as sums of many values, whose inputs then end sooner."""
        todo = list(dict.fromkeys(self.of.values()))
        while todo:
            group = todo.pop()
            inside = {value for step in group.steps for value in step.outputs}
            inputs = {
                x for step in group.steps for x in step.inputs if x not in inside and x.source is not Source.CONSTANT
            }
            count = sum(x.array is not None and x.array.ndim > 0 for x in inputs)
            if group.first is None and len(group.steps) > 1 and count > _MOST_INPUTS:
                middle = len(group.steps) // 2
                for steps in (group.steps[:middle], group.steps[middle:]):
                    part = Group(group.shape, steps)
                    self.of.update(dict.fromkeys(steps, part))
                    todo.append(part)

    def _ordered(self) -> list[Step | Group]:
        """All units in topological order; of groups in a cycle, the smallest is dissolved."""
        found: dict[Step | Group, None] = {}
        for step in self.steps:
            unit = self.unit(step)
            is_last = isinstance(unit, Step) or step is unit.steps[-1]
            if is_last and (circle := self._visit(unit, found)):
                for each in min(circle, key=lambda group: len(group.steps)).steps:
                    del self.of[each]
                return self._ordered()
        return list(found)

    def _visit(self, unit: Step | Group, found: dict[Step | Group, None]) -> list[Group]:
        """Append a unit behind all that it needs; return the groups of a cycle if there is one."""
        path = {unit: iter(list(self.needs(unit)))}
        while path:
            here = next(reversed(path))
            following = next((each for each in path[here] if each not in found), None)
            if here in found or following is None:
                found[here] = None
                del path[here]
            elif following in path:
                units = list(path)
                return [each for each in units[units.index(following) :] if isinstance(each, Group)]
            else:
                path[following] = iter(list(self.needs(following)))
        return []


def _facts(step: Step) -> Any:
    """What a compiler may ask of a step, beside its kind, name and arrays."""
    match step:
        case UfuncStep():
            return step.function
        case ReduceStep():
            return step.function, repr((step.axis, step.dtype, step.keepdims, step.initial))
        case ViewStep():
            return repr(step.argument)
    return None
