"""RNN: a layer that runs a cell over the steps of sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_layers.arguments.checks import handed_on, integer, shown
from agog_layers.arguments.signature import takes, takes_training
from agog_layers.calls.input_shapes import each_shape
from agog_layers.layer.layer import Layer
from agog_layers.models.model import Model
from agog_layers.recurrent.cell import Cell, initial_state
from agog_layers.recurrent.constants import TakesConstants
from agog_layers.recurrent.stacked_cells import StackedRNNCells
from agog_layers.recurrent.state_variables import KeptStates

__all__ = ["RNN"]


class RNN(TakesConstants, supports_masking=True):
    """Run a cell over sequences, step by step.

    A cell has ``state_size`` and ``call(inputs, states)``, which returns the output and the new states.

    Args:
        cell: the cell, or a list of cells, which are stacked.
        return_sequences: whether to return the outputs of all times, in place of the last one.
        return_state: whether to return the last states too.
        go_backwards: whether to begin with the last time; the outputs are in the order of the steps.
        stateful: whether a call begins with the states that the last one has ended with.
        zero_output_for_mask: whether the outputs of masked steps are zeros, among those of all times.
        **kwargs: further arguments of `Layer`.

    Raises:
        TypeError: the cell is a class.
        ValueError: the cell lacks ``call`` or ``state_size``.

    >>> import agog_core as ag
    >>> from agog_layers import LSTMCell
    >>> layer = RNN(LSTMCell(4), return_sequences=True)
    >>> layer(ag.zeros([2, 5, 3])).shape
    TensorShape([2, 5, 4])
    """

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if isinstance(cell, type):
            raise TypeError(f"{type(self).__name__}: a cell must be an object; got {shown(cell)}.")
        for needed in ("call", "state_size"):
            if not hasattr(cell, needed):
                raise ValueError(
                    f"{type(self).__name__}: a cell must have `call(inputs, states)` and `state_size`; "
                    f"{type(cell).__name__} has no `{needed}`."
                )
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.zero_output_for_mask = zero_output_for_mask
        vars(self)["_states"] = KeptStates()  # past __setattr__, since it is no part that a checkpoint saves

    @property
    def states(self) -> list[Tensor | None]:
        """The states that the next call begins with, if the layer is stateful; None before the first."""
        kept: list[Tensor] | None = vars(self)["_states"].present
        return [None] * len(self._state_sizes()) if kept is None else list(kept)

    def _state_sizes(self) -> list[Any]:
        sizes = self.cell.state_size
        return [sizes] if isinstance(sizes, ag.TensorShape) else ag.nest.flatten(sizes)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None) -> Any:
        """The states before the first step, for a batch of inputs or for its size.

        Args:
            inputs: a tensor of shape (batch, time, ...); or the size of the batch, as in Keras today.
            batch_size: the size of the batch.

        Returns:
            A list of tensors; a tensor if there is one state.
        """
        tensor = None if inputs is None else ag.convert_to_tensor(inputs)
        if tensor is None or not tensor.ndim:
            size = int(batch_size if tensor is None else tensor)
            states = ag.nest.flatten(initial_state(self.cell.state_size, None, size, self.compute_dtype or "float32"))
        else:
            states = self._cell_states(tensor)
        return states if len(states) > 1 else states[0]

    def build(self, input_shape: Any) -> None:
        """Make the cell's variables."""
        sizes = each_shape(input_shape)[0]
        if sizes.ndims is None or sizes.ndims < 3:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} takes inputs of shape (batch, time, features); got shape "
                f"{sizes}."
            )
        if isinstance(self.cell, Layer) and not isinstance(self.cell, Model) and not self.cell.built:
            if isinstance(self.cell, (Cell, StackedRNNCells)):
                self.cell._scope_path = self._full_path()  # the variables are the layer's, by name
            self.cell._follow(self)
            shape = ag.TensorShape([sizes[0], *sizes[2:]])
            with_constants = self._constant_shapes and takes(self.cell.call, "constants")
            self.cell.build([shape, *self._constant_shapes] if with_constants else shape)
            self.cell.built = True
        self.built = True

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: Any = None,
        initial_state: Any = None,
        constants: Any = None,
    ) -> Any:
        """Run over sequences.

        Args:
            inputs: a tensor of shape (batch, time, ...), or a list of that and the initial states.
            mask: booleans of shape (batch, time): where False, the states and the output stay unchanged.
            training: whether the cell is trained, for cells that want to know.
            initial_state: the first states: a tensor, or a list of them; by default zeros.
            constants: further inputs of each step, a tensor or a list, for cells that take ``constants``: a list.

        Returns:
            The last output, of shape (batch, ...), or those of all times, of shape (batch, time, ...); with
            ``return_state`` a list of that and the last states.

        Raises:
            ValueError: shapes do not fit, or the number of states is wrong.
            InvalidArgumentError: the dtypes differ.
        """
        x = inputs
        if isinstance(inputs, (list, tuple)):
            x, *given = inputs
            initial_state = given or initial_state
        self._check_input(x)
        is_kept = self.stateful and initial_state is None
        states = self._kept_states(x) if is_kept else self._first_states(x, initial_state)
        steps = ag.transpose(x, (1, 0, *range(2, x.ndim)))
        mask = mask[0] if isinstance(mask, (list, tuple)) else mask
        steps_mask = None if mask is None else ag.transpose(ag.convert_to_tensor(mask, "bool"))
        if self.go_backwards:
            steps = ag.reverse(steps, [0])
            steps_mask = None if steps_mask is None else ag.reverse(steps_mask, [0])
        outputs, last, states = self._run(steps, states, steps_mask, training, constants)
        self._forget_dropout_masks()  # they are the call's, and of no use to others
        if self.stateful:
            vars(self)["_states"].end(x, states)
        if self.return_sequences:
            if self.zero_output_for_mask and steps_mask is not None:
                shown = ag.reshape(steps_mask, (*steps_mask.shape, *[1] * (outputs.ndim - 2)))
                outputs = ag.where(shown, outputs, ag.zeros_like(outputs))
            last = ag.transpose(outputs, (1, 0, *range(2, outputs.ndim)))
        return [last, *states] if self.return_state else last

    def _check_input(self, inputs: Tensor) -> None:
        first = getattr(self.cell, "cells", [self.cell])[0]
        if isinstance(first, Cell):
            first.check_input(self, inputs)
        elif inputs.ndim < 3:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} takes inputs of shape (batch, time, ...); got shape "
                f"{inputs.shape}."
            )

    def _kept_states(self, x: Tensor) -> list[Tensor]:
        kept: KeptStates = vars(self)["_states"]
        if kept.batch not in (None, x._shape[0]):
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} keeps the states of {kept.batch} examples; got "
                f"an input of shape {x.shape}. Call reset_states first."
            )
        return kept.begin(x, lambda: self._cell_states(x))

    def _first_states(self, x: Tensor, given: Any) -> list[Tensor]:
        if given is None:
            return self._cell_states(x)
        return self._checked_states(given, x.shape[0])

    def _cell_states(self, x: Tensor) -> list[Tensor]:
        make = getattr(self.cell, "get_initial_state", None)
        return ag.nest.flatten(initial_state(self.cell.state_size, x) if make is None else make(inputs=x))

    def _checked_states(self, given: Any, batch: int | None) -> list[Tensor]:
        states = [ag.convert_to_tensor(state, self.compute_dtype) for state in ag.nest.flatten(given)]
        shapes = [
            ag.TensorShape([batch, *(size if isinstance(size, ag.TensorShape) else [int(size)])])
            for size in self._state_sizes()
        ]
        if len(states) != len(shapes) or not all(
            map(ag.TensorShape.is_compatible_with, shapes, [s.shape for s in states])
        ):
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} has states of the shapes {', '.join(map(str, shapes))}; "
                f"got {', '.join(str(state.shape) for state in states)}."
            )
        return states

    def _run(
        self, x: Tensor, states: list[Tensor], mask: Tensor | None, training: Any, constants: Any
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """The outputs of all times, time first; the last one; the last states."""
        if not x.shape[0]:
            raise ValueError(f"{type(self).__name__} layer {self.name!r} takes at least one time step; got none.")
        options = self._cell_options(training, constants)
        self._forget_dropout_masks()
        if isinstance(self.cell, (Cell, StackedRNNCells)):
            fused = self.cell.run(x, states, mask, training)
            if fused is not None:
                sequence, last = fused
                return sequence, self._shown(last), last
        run = self.cell if callable(self.cell) else self.cell.call
        outputs: list[Tensor] = []
        for time, step in enumerate(ag.unstack(x)):
            output, structure = run(step, self._packed(states), **options)
            new = ag.nest.flatten(structure)
            if mask is not None:
                before = outputs[-1] if outputs else ag.zeros_like(output)
                if states and self._shown(states).shape == output.shape:
                    before = self._shown(states)
                output = ag.where(mask[time], output, before)
                new = [ag.where(mask[time], after, state) for after, state in zip(new, states, strict=True)]
            states = new
            outputs.append(output)
        return ag.stack(outputs) if self.return_sequences else outputs[-1], outputs[-1], states

    def _forget_dropout_masks(self) -> None:
        for cell in getattr(self.cell, "cells", [self.cell]):
            if isinstance(cell, Cell):
                cell.reset_dropout_mask()
                cell.reset_recurrent_dropout_mask()

    def _shown(self, states: list[Tensor]) -> Tensor:
        """The state that is the output too: the first one of the cell, or of the last cell."""
        own = self.cell._own_states(states)[-1] if isinstance(self.cell, StackedRNNCells) else states
        shown: Tensor = own[0]
        return shown

    def _packed(self, states: list[Tensor]) -> Any:
        """The states in the form in which the cell takes them."""
        sizes = self.cell.state_size
        if ag.nest.is_nested(sizes):
            return ag.nest.pack(sizes, states)
        return states[0] if getattr(self.cell, "takes_bare_state", False) else states

    def _cell_options(self, training: Any, constants: Any) -> dict[str, Any]:
        """The keyword arguments for the cell's steps."""
        options = {"training": training} if takes_training(self.cell.call) else {}
        if constants is None:
            return options
        if not takes(self.cell.call, "constants"):
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} got constants, which its cell {type(self.cell).__name__} "
                "does not support: its call takes no constants."
            )
        return {**options, "constants": constants}

    def reset_states(self, states: Any = None) -> None:
        """Forget the states of earlier calls.

        Args:
            states: what the next call begins with: an array, or a list of them; None for zeros.

        Raises:
            AttributeError: the layer is not stateful.
            ValueError: the states do not fit.
        """
        if not self.stateful:
            raise AttributeError(f"{self._title} has no states that stay; make it with stateful=True.")
        vars(self)["_states"].reset(None if states is None else self._checked_states(states, None))

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the inputs if the layer returns sequences, else None; and None for each state that it returns."""
        mask = mask[0] if isinstance(mask, (list, tuple)) else mask
        output = mask if self.return_sequences else None
        return [output, *[None] * len(self._state_sizes())] if self.return_state else output


# What layers that make their own cell take beside its arguments.
_OF_RNN = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "activity_regularizer")


class CellRNN(RNN):
    """Base of the layers that make their own cell, and take and describe the cell's arguments as theirs."""

    def _make_cell(self, kind: type[Cell], given: Mapping[str, Any]) -> None:
        """Initialize with a cell: of the constructor's arguments, its ``locals()``, it gets what is not of `RNN`."""
        for name in ("units", "filters"):  # here, since an error of the cell would name a class that nobody wrote
            if name in given:
                integer(type(self).__name__, name, given[name])
        kwargs = given["kwargs"]
        ours = {name: given[name] for name in _OF_RNN if name in given}
        cell = kind(**handed_on({**given, "kwargs": {}}, *ours), dtype=kwargs.get("dtype"))
        super().__init__(cell, **ours, **kwargs)

    @property
    def units(self) -> int:
        """The number of outputs."""
        return int(self.cell.units)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["cell"]
        return config

    def _described(self, name: str) -> Any:
        return super()._described(name) if hasattr(self, name) else self.cell._described(name)
