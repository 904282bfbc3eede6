"""Wrappers: cells made of cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_core import Tensor, Variable, add, concat, device, multiply, nest, nn, ones_like, split
from agog_layers.recurrent.rnn_cell.cell import RNNCell
from agog_layers.recurrent.rnn_cell.lstm import LSTMStateTuple

__all__ = ["DeviceWrapper", "DropoutWrapper", "MultiRNNCell", "ResidualWrapper"]


class MultiRNNCell(RNNCell):
    """Cells of which each takes the output of the one before.

    Args:
        cells: the cells.
        state_is_tuple: whether the state is a tuple with one for each cell; else all are side by side in one tensor.

    Raises:
        ValueError: there are no cells, or a state is a structure although ``state_is_tuple`` is False.
        TypeError: ``cells`` is no list.

    >>> from agog_layers.recurrent.rnn_cell import GRUCell
    >>> MultiRNNCell([GRUCell(2), GRUCell(3)]).state_size
    (2, 3)
    """

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"MultiRNNCell: cells must be a list or tuple; got {cells!r}.")
        if not cells:
            raise ValueError("MultiRNNCell: cells must have at least one cell; got none.")
        if not state_is_tuple and any(nest.is_nested(cell.state_size) for cell in cells):
            raise ValueError(
                "MultiRNNCell: with state_is_tuple=False the state of each cell must be one tensor; got state sizes "
                f"{', '.join(str(cell.state_size) for cell in cells)}."
            )
        self._cells = list(cells)
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        """A tuple of the cells' state sizes, or their sum."""
        sizes = tuple([cell.state_size for cell in self._cells])
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """The size of the last cell's output."""
        return self._cells[-1].output_size

    def call(self, inputs: Tensor, state: Any, scope: Any = None) -> tuple[Tensor, Any]:
        """Compute one step; return the output of the last cell, and the new states."""
        if not self._state_is_tuple:
            state = split(state, [cell.state_size for cell in self._cells], axis=1)
        output, new = inputs, []
        for cell, own in zip(self._cells, state, strict=True):
            output, after = cell(output, own)
            new.append(after)
        return output, tuple(new) if self._state_is_tuple else concat(new, 1)

    def run(self, x: Tensor, state: Any, mask: Tensor | None) -> Any:
        """Run over a whole sequence, cell by cell; see `RNNCell.run`. None if any cell has to go step by step."""
        if type(self).call is not MultiRNNCell.call or not self._state_is_tuple:
            return None
        outputs, new = x, []
        for cell, own in zip(self._cells, state, strict=True):
            done = cell.run(outputs, own, mask) if isinstance(cell, RNNCell) and cell.built else None
            if done is None:
                return None
            outputs, after = done
            new.append(after)
        return outputs, tuple(new)


class _Wrapper(RNNCell):
    """Base of cells that change what another cell does."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        for needed in ("output_size", "state_size"):
            if not callable(cell) or not hasattr(cell, needed):
                raise TypeError(f"{type(self).__name__}: cell must be an RNNCell; got {cell!r}.")
        self._cell = cell

    @property
    def state_size(self) -> Any:
        """The cell's."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """The cell's."""
        return self._cell.output_size


class DropoutWrapper(_Wrapper):
    """Drop elements of a cell's inputs, states and outputs, always; there is no switch for training.

    Y. Gal and Z. Ghahramani, "A theoretically grounded application of dropout in recurrent neural networks", 2015.

    Args:
        cell: the cell.
        input_keep_prob: the share of the inputs that is kept.
        output_keep_prob: the share of the outputs that is kept.
        state_keep_prob: the share of the new states that is kept; the cell state of an `LSTMStateTuple` is left
            alone.
        variational_recurrent: whether the same elements are dropped at all steps, of all examples.
        seed: the seed of the random choices.
        dropout_state_filter_visitor: a function of a state or substate. It returns whether its parts may be dropped, as
            a structure or one value for all.

    Raises:
        TypeError: ``cell`` is no cell.
        ValueError: a share is not in (0, 1].
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: float = 1.0,
        output_keep_prob: float = 1.0,
        state_keep_prob: float = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__(cell)
        shares = {"input": input_keep_prob, "output": output_keep_prob, "state": state_keep_prob}
        for what, share in shares.items():
            if not 0 < float(share) <= 1:
                raise ValueError(f"DropoutWrapper: {what}_keep_prob must be in (0, 1]; got {share}.")
        self._keep = {what: float(share) for what, share in shares.items()}
        self._variational_recurrent = variational_recurrent
        self._seed = seed
        self._filter = dropout_state_filter_visitor or _may_drop
        vars(self)["_masks"] = {}  # past __setattr__, since it is no part that a checkpoint saves

    def call(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Compute one step on inputs of shape (batch, features) and the state; return the output, and the new state."""
        output, new = self._cell(self._dropped("input", inputs), state)
        if self._keep["state"] < 1:
            new = self._drop_state(new, "state")
        return self._dropped("output", output), new

    def _dropped(self, what: str, values: Any, place: str = "") -> Any:
        keep = self._keep[what]
        if keep == 1:
            return values
        leaves = [self._drop_one(f"{what}{place}{n}", keep, x) for n, x in enumerate(nest.flatten(values))]
        return nest.pack(values, leaves)

    def _drop_one(self, place: str, keep: float, x: Tensor) -> Tensor:
        if not self._variational_recurrent:
            return nn.dropout(x, keep_prob=keep, seed=self._seed)
        if place not in vars(self)["_masks"]:
            mask = nn.dropout(ones_like(x[:1]), keep_prob=keep, seed=self._seed)
            vars(self)["_masks"][place] = Variable(mask, trainable=False, name="mask")
        return multiply(x, vars(self)["_masks"][place])

    def _drop_state(self, state: Any, place: str) -> Any:
        chosen = self._filter(state)
        if isinstance(chosen, bool):
            return self._dropped("state", state, place) if chosen else state
        parts = [
            self._drop_part(part, choice, f"{place}/{n}")
            for n, (part, choice) in enumerate(zip(state, chosen, strict=True))
        ]
        return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)

    def _drop_part(self, part: Any, choice: Any, place: str) -> Any:
        if nest.is_nested(part):
            return self._drop_state(part, place)
        return self._dropped("state", part, place) if choice else part


def _may_drop(state: Any) -> Any:
    """All states but the cell state of long short-term memory."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return tuple([True] * len(state)) if isinstance(state, (list, tuple)) else True


class ResidualWrapper(_Wrapper):
    """Add a cell's inputs to its outputs.

    Y. Wu et al., "Google's neural machine translation system", arXiv:1609.08144, 2016.

    Args:
        cell: the cell.
        residual_fn: a function of the inputs and the outputs; by default their sum.

    Raises:
        TypeError: ``cell`` is no cell.

    >>> import agog_core as ag
    >>> from agog_layers.recurrent.rnn_cell import GRUCell
    >>> cell = ResidualWrapper(GRUCell(2))
    >>> output, state = cell(ag.ones([1, 2]), cell.zero_state(1, ag.float32))
    >>> bool(ag.reduce_all(ag.equal(output, state + 1)))
    True
    """

    def __init__(self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None) -> None:
        super().__init__(cell)
        self._residual_fn = residual_fn

    def call(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Compute one step on inputs of shape (batch, features) and the state; return the output, and the new state."""
        output, new = self._cell(inputs, state)
        residual = self._residual_fn or (lambda x, y: nest.map_structure(add, x, y))
        return residual(inputs, output), new


class DeviceWrapper(_Wrapper):
    """Run a cell on a device.

    Args:
        cell: the cell.
        device: the device's name.

    Raises:
        TypeError: ``cell`` is no cell.
    """

    def __init__(self, cell: Any, device: str) -> None:
        super().__init__(cell)
        self._device = device

    def call(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Compute one step on the device."""
        with device(self._device):
            output, new = self._cell(inputs, state)
        return output, new
