"""Optimizer: the base of all optimizers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from agog_core import GradientTape, IndexedSlices, Tensor, TensorLike, Variable, convert_to_tensor, device
from agog_core.checkpointable import Checkpointable, listeners, notify
from agog_core.replicas import present_replicas
from agog_core.tracers import late
from agog_core.variables.memory import release
from agog_optimizers.gradients_and_variables import checked, pairs_of
from agog_optimizers.hyperparameters import Number, checked_number, number, shown
from agog_optimizers.multi_tensor import take_several
from agog_optimizers.rows import distinct, gathered, scattered
from agog_optimizers.slots import Slots
from agog_optimizers.step import Step

__all__ = ["Optimizer", "get_optimizer_variables"]


class Optimizer(Step, Checkpointable, step_unit="element"):
    """Base of optimizers.

    A subclass makes its slots in `make_slots`, registers hyperparameters with `keep`, and changes a variable in
    `update`: by default it calls `step_op`, the op that it names.

    A hyperparameter of any optimizer is a number, a tensor or variable, or a function without arguments that returns
    one; it is read at each step. Anything else raises TypeError.

    Args:
        learning_rate: the step size, a hyperparameter.
        name: the optimizer's name, after which slots are named.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    slot_names: Mapping[str, str] = {}
    """Which slots are named after something else than the optimizer."""

    learning_rate: Number
    _kept: tuple[tuple[str, str], ...] = ()

    def __init__(self, learning_rate: Number, name: str) -> None:
        self._name = name
        self._slots = Slots()
        self.keep(learning_rate=learning_rate)

    def get_name(self) -> str:
        """The optimizer's name.

        Returns:
            The name.
        """
        return self._name

    # What a subclass says

    def keep(self, **numbers: Number) -> None:
        """Keep hyperparameters in attributes of their names; `hyperparameters` gives their present values to `step_op`.

        What TensorFlow calls ``l1_regularization_strength`` is ``l1`` to the op, and so on.

        Args:
            **numbers: the hyperparameters.

        Raises:
            TypeError: one is no hyperparameter.
        """
        for name, value in numbers.items():
            setattr(self, name, checked_number(self._name, name, value))
        self._kept = (*self._kept, *((name, name.removesuffix("_regularization_strength")) for name in numbers))

    def make_slots(self, variable: Variable) -> Mapping[str, TensorLike]:
        """The slots of a variable; they are made before its first update.

        Args:
            variable: the variable.

        Returns:
            The slots' names and initial values, in the order in which `update` takes them.
        """
        return {}

    def hyperparameters(self) -> dict[str, Any]:
        """The hyperparameters of a step, read once before its updates.

        Returns:
            The attributes of `step_op`: by default the present values of the numbers that were kept.
        """
        found = {}
        for name, argument in self._kept:
            value = getattr(self, name)
            found[argument] = value if type(value) is float else number(value)
        return found

    def update(
        self, variable: Variable, gradient: Tensor, hyperparameters: dict[str, Any], slots: Sequence[Variable]
    ) -> None:
        """Change a variable.

        Args:
            variable: the variable.
            gradient: a tensor of its shape and dtype.
            hyperparameters: what `hyperparameters` returned for this step.
            slots: the variable's slots, in the order of `make_slots`.
        """
        self.step_op(variable, *slots, gradient, **hyperparameters)

    def update_rows(
        self, variable: Variable, gradient: IndexedSlices, hyperparameters: dict[str, Any], slots: Sequence[Variable]
    ) -> None:
        """Change a variable by the gradient of a lookup. Arguments: see `update`."""
        if not self.touches_rows_only:
            self.update(variable, convert_to_tensor(gradient), hyperparameters, slots)
            return
        rows, values = distinct(gradient)
        parts = gathered((variable, *slots), rows)
        self.update(parts[0], values, hyperparameters, parts[1:])
        scattered((variable, *slots), rows, parts)

    def finish(self) -> None:
        """Update what is not of one variable, after the updates of a step."""

    def __repr__(self) -> str:
        kind, made = type(self).__name__, list(getattr(self, "_slots", Slots()).of.items())
        facts = [f"{name}={shown(value)}" for name, value in self._shown().items()]
        shapes = [str(variable.shape) for variable, slots in made if slots]
        if shapes:
            names = ", ".join(dict.fromkeys(name for _, slots in made for name in slots))
            facts.append(f"slots {names} of shapes {', '.join(shapes[:4])}{', ...' if shapes[4:] else ''}")
        return f"<{kind} {getattr(self, '_name', kind)!r}: {', '.join(facts) or 'no slots'}>"

    def _shown(self) -> dict[str, Any]:
        """The optimizer's description for `repr`."""
        return {name: getattr(self, name) for name, _ in self._kept}

    # What a program calls

    def minimize(
        self,
        loss: Callable[[], Any],
        global_step: Variable | None = None,
        var_list: Iterable[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike = None,
    ) -> None:
        """Compute the gradients of a loss, and apply them.

        Args:
            loss: a function without arguments that returns the loss.
            global_step: a variable to count up.
            var_list: the variables to change; None for all trainable ones that the function reads.
            grad_loss: what the gradient of the loss starts with; None for ones.

        Raises:
            RuntimeError: ``loss`` is not a function.
            TypeError: ``global_step`` is not a variable.
            ValueError: there are no variables, or none of them has a gradient, or ``gate_gradients`` is unknown.
        """
        self._check_step(
            "minimize", global_step, "The variables to change are var_list: minimize(loss, var_list=[...])."
        )
        pairs = self.compute_gradients(loss, var_list, gate_gradients, grad_loss=grad_loss)
        self.apply_gradients(pairs, global_step)

    def compute_gradients(
        self,
        loss: Callable[[], Any],
        var_list: Iterable[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: TensorLike = None,
        tape: GradientTape | None = None,
    ) -> list[tuple[Any, Variable]]:
        """Compute the gradients of a loss.

        Args:
            loss: a function without arguments that returns the loss.
            var_list: the variables; None for all trainable ones that the function reads.
            grad_loss: what the gradient of the loss starts with; None for ones.
            tape: what the loss is recorded on; None for a `GradientTape`.

        Returns:
            (gradient, variable) pairs; the gradient is None if the loss does not depend on the variable.

        Raises:
            RuntimeError: ``loss`` is not a function.
            ValueError: ``gate_gradients`` is unknown.
        """
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH; got "
                f"{gate_gradients!r}. It changes nothing in eager execution, so leave it out."
            )
        if not callable(loss):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled; "
                "got a value of type "
                f"{type(loss).__name__}. Pass a function without arguments that computes it."
            )
        variables = None if var_list is None else list(var_list)
        if tape is None:
            tape = self.gradient_tape(watch_accessed_variables=variables is None)
        with tape:
            if variables is not None:
                tape.watch(variables)
            value = loss()
        if variables is None:
            variables = list(tape.watched_variables())
        return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[TensorLike, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> None:
        """Take one step. When an argument is wrong, no variable is changed.

        Args:
            grads_and_vars: (gradient, variable) pairs; a gradient may be `IndexedSlices`; pairs whose gradient is
                None are left out.
            global_step: a variable to count up.

        Raises:
            ValueError: there are no variables, or none of them has a gradient.
            TypeError: what should be a variable is none, or ``global_step``.
            NotImplementedError: what should be a variable is a tensor.
            InvalidArgumentError: a gradient's shape or dtype is not its variable's.
        """
        if (replicas := present_replicas()) is not None:
            return replicas.with_sums(self.apply_gradients, grads_and_vars, global_step, name)
        self._check_step("apply_gradients", global_step, "The variables to change are in the pairs.")
        steps = self._steps(grads_and_vars)
        hyperparameters = late(self.hyperparameters)
        slots_of = self._slots.of
        if listeners:  # all slots first: a restore that waits for them looks once, and nothing has changed if it fails
            fresh = [self._make_slots(variable) for _, variable in steps if variable not in slots_of]
            if fresh:
                notify()
                release(slot for slots in fresh for slot in slots.values())
        if len(steps) > 1 and self._updates_alike():
            steps = take_several(self.step_op, steps, self._slots_for, hyperparameters)
        for gradient, variable in steps:
            slots = self._slots_for(variable)
            change = self.update_rows if type(gradient) is IndexedSlices else self.update
            change(variable, gradient, hyperparameters, tuple(slots.values()))
            if variable._constraint is not None:
                variable.assign(variable._constraint(variable.value()))
        self.finish()
        if global_step is not None:
            global_step.assign_add(1)

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """A slot of a variable.

        Args:
            var: the variable.
            name: the slot's name, such as ``"momentum"``.

        Returns:
            The slot, or None when there is none by that name, or none yet.
        """
        slot: Variable | None = self._slots.of.get(var, {}).get(name)
        return slot

    def get_slot_names(self) -> list[str]:
        """List the names of the slots that exist.

        Returns:
            The names, sorted.
        """
        return sorted({name for slots in self._slots.of.values() for name in slots})

    def variables(self) -> list[Variable]:
        """List the variables that belong to the optimizer: slots, and those that are not of one variable.

        Returns:
            The variables, sorted by name.
        """
        slots = [slot for slots in self._slots.of.values() for slot in slots.values()]
        return sorted([*slots, *self.non_slot_variables()], key=lambda variable: variable.name)

    def non_slot_variables(self) -> list[Variable]:
        """List the optimizer's own variables that are not of one variable.

        Returns:
            The variables.
        """
        return []

    def checkpoint_slots(self) -> Iterator[tuple[str, Variable, Variable]]:
        for variable, slots in list(self._slots.of.items()):
            for name, slot in slots.items():
                yield name, variable, slot

    def make_checkpoint_slots(self, variable: Variable, names: Container[str]) -> Mapping[str, Variable]:
        """See `Checkpointable.make_checkpoint_slots`; those that it has not wait for the first step."""
        if variable not in self._slots.of and not any(name in names for name in self._make_slots(variable)):
            del self._slots.of[variable]
        made: Mapping[str, Variable] = self._slots.of.get(variable, {})
        return made

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        """Take over ``steps``, the number of steps in a checkpoint that has only that, and no running products."""
        if "steps" in state:
            for name, value in self.values_after_steps(state["steps"]).items():
                getattr(self, name).assign(value)

    def _check_step(self, method: str, global_step: Any, hint: str) -> None:
        if global_step is not None and not isinstance(global_step, Variable):
            kind = type(global_step).__name__
            raise TypeError(f"{self._name}: {method} takes a variable as global_step; got a {kind}. {hint}")

    def _steps(self, grads_and_vars: Iterable[tuple[TensorLike, Variable]]) -> list[tuple[Any, Variable]]:
        """The pairs that have a gradient, checked."""
        pairs = pairs_of(self._name, grads_and_vars)
        steps = [(checked(self._name, g, variable), variable) for g, variable in pairs if g is not None]
        if not steps:
            if not pairs:
                raise ValueError("No variables provided.")
            names = [getattr(variable, "name", repr(variable)) for _, variable in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}. The loss does not depend on them.")
        return steps

    def _updates_alike(self) -> bool:
        """Whether `update` is `step_op`, with the same hyperparameters for all variables."""
        return type(self).update is Optimizer.update

    def gradient_tape(self, watch_accessed_variables: bool = True) -> GradientTape:
        """A tape whose gradients `apply_gradients` takes as they are; that of a `DistributedOptimizer` averages them.

        Args:
            watch_accessed_variables: see `GradientTape`.

        Returns:
            A tape that records nothing yet.
        """
        return GradientTape(watch_accessed_variables=watch_accessed_variables)

    def prepare(self, variables: Iterable[Variable]) -> None:
        """Make the slots of variables before their first step.

        Args:
            variables: the variables; those that have slots keep them.
        """
        for variable in variables:
            self._slots_for(variable)

    def _slots_for(self, variable: Variable) -> dict[str, Variable]:
        """The slots of a variable, which are made if it has none."""
        slots: dict[str, Variable] | None = self._slots.of.get(variable)
        return self._new_slots(variable) if slots is None else slots

    def _new_slots(self, variable: Variable) -> dict[str, Variable]:
        """Make the slots of a variable, and let a restore that waits for them fill them."""
        slots = self._make_slots(variable)
        notify()
        release(slots.values())
        return slots

    def _make_slots(self, variable: Variable) -> dict[str, Variable]:
        """Make the slots of a variable on its device."""
        base = variable.name.removesuffix(":0")
        slots: dict[str, Variable] = {}
        with device(variable.device):
            taken: dict[str, int] = {}
            for slot, value in self.make_slots(variable).items():
                kind = self.slot_names.get(slot, self._name)
                count = taken[kind] = taken.get(kind, -1) + 1
                name = f"{base}/{kind}_{count}" if count else f"{base}/{kind}"
                dtype = None if isinstance(value, Tensor) else variable.dtype
                slots[slot] = Variable(value, trainable=False, name=name, dtype=dtype)
        self._slots.of[variable] = slots
        return slots


def get_optimizer_variables(optimizer: Optimizer) -> list[Variable]:
    """The variables that an optimizer has made.

    Args:
        optimizer: the optimizer.

    Returns:
        Variables, sorted by name.
    """
    return optimizer.variables()
