"""Optimizer: what all optimizers share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from agog_core import Checkpointable, GradientTape, Tensor, TensorLike, Variable, convert_to_tensor, device
from agog_core.checkpointable import notify
from agog_core.errors import InvalidArgumentError

Number = Any
"""A number, a `Tensor` or `Variable` that holds one, or a function without arguments that returns one of these."""


class Slots:
    """The slots of an optimizer. They live as long as their variables."""

    def __init__(self) -> None:
        self.of: WeakKeyDictionary[Variable, dict[str, Variable]] = WeakKeyDictionary()


class Optimizer(Checkpointable):
    """Base of optimizers.

    A subclass says in `make_slots` what it remembers of each variable, and in `update` how it changes one.

    Args:
        learning_rate: the step size: a number, a tensor or variable, or a function that returns one; it is read at
            each step.
        name: the optimizer's name, after which slots are named.

    Raises:
        TypeError: the learning rate is none of these.
    """

    def __init__(self, learning_rate: Number, name: str) -> None:
        self.learning_rate = checked_number(name, "learning_rate", learning_rate)
        self._name = name
        self._slots = Slots()

    def get_name(self) -> str:
        """The optimizer's name.

        Returns:
            The name.
        """
        return self._name

    # What a subclass says

    def make_slots(self, variable: Variable) -> Mapping[str, TensorLike]:
        """The slots of a variable; they are made before its first update.

        Args:
            variable: the variable.

        Returns:
            The slots' names and initial values, in the order in which `update` takes them.
        """
        return {}

    def update(self, variable: Variable, gradient: Tensor, step_size: float, slots: Sequence[Variable]) -> None:
        """Change a variable.

        Args:
            variable: the variable.
            gradient: a tensor of its shape and dtype.
            step_size: what `step_size` returned for this step.
            slots: the variable's slots, in the order of `make_slots`.
        """
        raise NotImplementedError(f"{type(self).__name__}.update is not implemented; it changes one variable.")

    def step_size(self) -> float:
        """The step size, which is asked for once before the updates of a step.

        Returns:
            The learning rate, or what the optimizer makes of it.
        """
        return number(self.learning_rate)

    def finish(self) -> None:
        """Update what is not of one variable, after the updates of a step."""

    # What a program calls

    def minimize(
        self,
        loss: Callable[[], Any],
        global_step: Variable | None = None,
        var_list: Iterable[Variable] | None = None,
        *,
        name: str | None = None,
        grad_loss: TensorLike = None,
    ) -> None:
        """Compute the gradients of a loss, and apply them.

        Args:
            loss: a function without arguments that returns the loss.
            global_step: a variable to count up.
            var_list: the variables to change; None for all trainable ones that the function reads.
            name: not used; kept for compatibility.
            grad_loss: what the gradient of the loss starts with; None for ones.

        Raises:
            RuntimeError: ``loss`` is not a function.
            ValueError: there are no variables, or none of them has a gradient.
        """
        self.apply_gradients(self.compute_gradients(loss, var_list, grad_loss=grad_loss), global_step)

    def compute_gradients(
        self, loss: Callable[[], Any], var_list: Iterable[Variable] | None = None, *, grad_loss: TensorLike = None
    ) -> list[tuple[Tensor | None, Variable]]:
        """Compute the gradients of a loss.

        Args:
            loss: a function without arguments that returns the loss.
            var_list: the variables; None for all trainable ones that the function reads.
            grad_loss: what the gradient of the loss starts with; None for ones.

        Returns:
            (gradient, variable) pairs; the gradient is None where the loss does not depend on the variable.

        Raises:
            RuntimeError: ``loss`` is not a function.
        """
        if not callable(loss):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled; "
                "got a value of type "
                f"{type(loss).__name__}. Pass a function without arguments that computes it."
            )
        variables = None if var_list is None else list(var_list)
        with GradientTape(watch_accessed_variables=variables is None) as tape:
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
            grads_and_vars: (gradient, variable) pairs; those whose gradient is None are left out.
            global_step: a variable to count up.
            name: not used; kept for compatibility.

        Raises:
            ValueError: there are no variables, or none of them has a gradient.
            TypeError: what should be a variable is none.
            InvalidArgumentError: a gradient's shape or dtype is not its variable's.
        """
        pairs = list(grads_and_vars)
        steps = [(self._checked(gradient, variable), variable) for gradient, variable in pairs if gradient is not None]
        if not steps:
            if not pairs:
                raise ValueError("No variables provided.")
            names = [getattr(variable, "name", repr(variable)) for _, variable in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}. The loss does not depend on them.")
        step_size = self.step_size()
        slots_of = self._slots.of
        for gradient, variable in steps:
            slots = slots_of.get(variable)
            if slots is None:
                slots = self._new_slots(variable)
            self.update(variable, gradient, step_size, tuple(slots.values()))
            if variable.constraint is not None:
                variable.assign(variable.constraint(variable.value()))
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
        return self._slots.of.get(var, {}).get(name)

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
        """The slots, for checkpoints.

        Returns:
            An iterator of (slot name, variable, slot).
        """
        for variable, slots in list(self._slots.of.items()):
            for name, slot in slots.items():
                yield name, variable, slot

    def _checked(self, gradient: TensorLike, variable: Variable) -> Tensor:
        if not isinstance(variable, Variable):
            raise TypeError(
                f"{self._name}: apply_gradients takes (gradient, variable) pairs; got {variable!r} of type "
                f"{type(variable).__name__} as "
                "a variable."
            )
        tensor = gradient if type(gradient) is Tensor else convert_to_tensor(gradient, preferred_dtype=variable.dtype)
        value = variable._current()
        if tensor._shape != value._shape or tensor._table.dtype is not value._table.dtype:
            raise InvalidArgumentError(
                f"{self._name}: variable {variable.name!r} has shape {variable.shape} and dtype {variable.dtype.name}; "
                f"its gradient has shape {tensor.shape} and dtype {tensor.dtype.name}, and both must agree."
            )
        return tensor

    def _new_slots(self, variable: Variable) -> dict[str, Variable]:
        """Make the slots of a variable on its device, and let a restore that waits for them fill them."""
        base = variable.name.removesuffix(":0")
        slots: dict[str, Variable] = {}
        with device(variable.device):
            for number, (slot, value) in enumerate(self.make_slots(variable).items()):
                suffix = f"_{number}" if number else ""
                name = f"{base}/{self._name}{suffix}"
                slots[slot] = Variable(value, trainable=False, name=name, dtype=variable.dtype)
        self._slots.of[variable] = slots
        notify()
        return slots


def number(value: Number) -> float:
    """The present value of a hyperparameter.

    Args:
        value: a number, a tensor or variable that holds one, or a function that returns one of these.

    Returns:
        A float.

    >>> number(0.5), number(lambda: 1)
    (0.5, 1.0)
    """
    if type(value) is float:
        return value
    return float(value() if callable(value) else value)


def checked_number(optimizer: str, name: str, value: Number) -> Number:
    """Check that a value can be a hyperparameter.

    Args:
        optimizer: the optimizer's name, for the error.
        name: the hyperparameter's name, for the error.
        value: the value.

    Returns:
        The value; Python numbers as float.

    Raises:
        TypeError: it is neither a number, nor a tensor or variable, nor a function.
    """
    if callable(value) or isinstance(value, (Tensor, Variable)):
        return value
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise TypeError(
            f"{optimizer}: {name} must be a number, a tensor, a variable, or a function that returns one; got "
            f"{value!r} of type "
            f"{type(value).__name__}."
        )
    return float(value)
