"""StackedRNNCells: several cells as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import Tensor, TensorShape, nest
from agog_layers.arguments.checks import shown
from agog_layers.arguments.signature import takes, takes_training
from agog_layers.layer.layer import Layer
from agog_layers.recurrent.cell import Cell, initial_state

__all__ = ["StackedRNNCells"]


class StackedRNNCells(Layer):
    """Cells of which each takes the output of the one before.

    Args:
        cells: the cells.
        reverse_state_order: whether the states of the last cell come first, as before TensorFlow 1.12.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: a cell lacks ``call`` or ``state_size``.

    >>> import agog_core as ag
    >>> from agog_layers import RNN, GRUCell, LSTMCell
    >>> cell = StackedRNNCells([LSTMCell(3), GRUCell(2)])
    >>> cell.state_size
    (3, 3, 2)
    >>> RNN(cell)(ag.zeros([4, 5, 6])).shape
    TensorShape([4, 2])
    """

    def __init__(self, cells: Sequence[Any], reverse_state_order: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.reverse_state_order = reverse_state_order
        for number, cell in enumerate(cells):
            if isinstance(cell, type):
                raise TypeError(f"{type(self).__name__}: cell {number} must be an object; got {shown(cell)}.")
            for needed in ("call", "state_size"):
                if not hasattr(cell, needed):
                    raise ValueError(
                        f"StackedRNNCells: cell {number} must have `call(inputs, states)` and `state_size`; "
                        f"{type(cell).__name__} has no `{needed}`."
                    )
        self.cells = list(cells)

    @property
    def state_size(self) -> tuple[Any, ...]:
        """The sizes of the states, cell by cell."""
        return tuple(self._joined([_sizes(cell) for cell in self.cells]))

    def _joined(self, each: list[list[Any]]) -> list[Any]:
        """What belongs to states of all cells, from lists of what belongs to those of each."""
        return [part for parts in (reversed(each) if self.reverse_state_order else each) for part in parts]

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        last = self.cells[-1]
        return getattr(last, "output_size", None) or _sizes(last)[0]

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> list[Tensor]:
        """The states before the first step: a list of zeros of shape (batch, size); see `Cell.get_initial_state`."""
        states: list[Tensor] = initial_state(self.state_size, inputs, batch_size, dtype)
        return states

    def build(self, input_shape: Any) -> None:
        """Make the cells' variables."""
        shape, *constants = input_shape if isinstance(input_shape, list) else [TensorShape(input_shape)]
        for number, cell in enumerate(self.cells):
            if isinstance(cell, Layer) and not cell.built:
                if isinstance(cell, Cell):
                    cell._scope_path = f"{self._full_path()}/cell_{number}"
                cell._follow(self)
                cell.build([shape, *constants] if constants and takes(cell.call, "constants") else shape)
                cell.built = True
            shape = TensorShape([shape[0], getattr(cell, "output_size", None) or _sizes(cell)[0]])
        self.built = True

    def run(self, x: Tensor, states: list[Tensor], mask: Tensor | None, training: Any) -> Any:
        """Run over a whole sequence, cell by cell; see `Cell.run`. None if any cell has to go step by step."""
        if type(self).call is not StackedRNNCells.call:
            return None
        outputs, new = x, []
        for cell, own in zip(self.cells, self._own_states(states), strict=True):
            done = cell.run(outputs, own, mask, training) if isinstance(cell, Cell) else None
            if done is None:
                return None
            outputs, after = done
            new.append(after)
        return outputs, self._joined(new)

    def _own_states(self, states: Sequence[Tensor]) -> list[list[Tensor]]:
        """The states of each cell, from those of all."""
        left, step = iter(states), -1 if self.reverse_state_order else 1
        return [[next(left) for _ in _sizes(cell)] for cell in self.cells[::step]][::step]

    def call(
        self, inputs: Tensor, states: Any, training: Any = None, constants: Any = None, **kwargs: Any
    ) -> tuple[Tensor, list[Tensor]]:
        """Compute one step; return the output of the last cell, and the new states."""
        new, output = [], inputs
        for cell, own in zip(self.cells, self._own_states(states), strict=True):
            options = {**kwargs, "training": training} if takes_training(cell.call) else {**kwargs}
            if constants is not None and takes(cell.call, "constants"):
                options["constants"] = constants
            output, after = (cell if callable(cell) else cell.call)(output, own, **options)
            new.append(nest.flatten(after))
        return output, self._joined(new)


def _sizes(cell: Any) -> list[Any]:
    sizes = cell.state_size
    return [sizes] if isinstance(sizes, TensorShape) else nest.flatten(sizes)
