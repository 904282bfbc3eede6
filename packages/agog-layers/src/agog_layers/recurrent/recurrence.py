"""Recurrence: cells run over sequences without a layer, as in ``tf.nn``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_core.errors import InvalidArgumentError
from agog_layers.recurrent.rnn_cell.cell import RNNCell

__all__ = ["bidirectional_dynamic_rnn", "dynamic_rnn", "static_bidirectional_rnn", "static_rnn"]


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: ag.TensorLike | None = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Run a cell over sequences.

    Args:
        cell: an `RNNCell`. Where it has the usual activation functions, the sequence is one op.
        inputs: a tensor of shape (batch, time, ...), or a structure of them.
        sequence_length: integers of shape (batch,): how many steps of each example count. After them, the state
            stays what it is and the outputs are 0. None for all.
        initial_state: the first state, in the structure of ``cell.state_size``; by default zeros.
        dtype: the dtype of the first state, if it is not given.
        time_major: whether time is the first axis of the inputs and the outputs, in place of the second one.

    Returns:
        The outputs of all times, of shape (batch, time, ...), and the last state.

    Raises:
        TypeError: ``cell`` is no cell.
        ValueError: neither a state nor a dtype is given, or there is no time step.
        InvalidArgumentError: there is not one length for each example.
        ValueError: the lengths are no vector.

    >>> import agog_core as ag
    >>> from agog_layers.recurrent.rnn_cell import GRUCell
    >>> outputs, state = dynamic_rnn(GRUCell(4), ag.zeros([2, 5, 3]), dtype=ag.float32)
    >>> outputs.shape, state.shape
    (TensorShape([2, 5, 4]), TensorShape([2, 4]))
    """
    x = ag.nest.map_structure(ag.convert_to_tensor, inputs)
    if not time_major:
        x = ag.nest.map_structure(_swapped, x)
    outputs, state = _run("dynamic_rnn", cell, x, sequence_length, initial_state, dtype)
    return outputs if time_major else ag.nest.map_structure(_swapped, outputs), state


def _swapped(x: Tensor) -> Tensor:
    """Time and batch, each in the other's place."""
    return ag.transpose(x, (1, 0, *[axis for axis, _ in enumerate(x.shape) if axis > 1]))


def _run(op: str, cell: Any, x: Any, sequence_length: ag.TensorLike | None, state: Any, dtype: Any) -> tuple[Any, Any]:
    """Run a cell over sequences whose first axis is time."""
    _check_cell(op, cell)
    first = ag.nest.flatten(x)[0]
    time, batch = first.shape.as_list()[:2]
    if not time:
        raise ValueError(f"{op}: inputs must have at least one time step; got shape {first.shape}.")
    state = _first_state(op, cell, state, batch, dtype)
    mask = None
    if sequence_length is not None:
        lengths = ag.cast(ag.convert_to_tensor(sequence_length), ag.int32)
        if len(lengths.shape) != 1:
            raise ValueError(f"{op}: sequence_length must be a vector of length {batch}; got shape {lengths.shape}.")
        if lengths.shape != (batch,):
            raise InvalidArgumentError(
                f"{op}: sequence_length must be of shape ({batch},), one for each example; got {lengths.shape}."
            )
        mask = ag.expand_dims(ag.range(time), 1) < lengths
    if isinstance(cell, RNNCell) and type(cell).run is not RNNCell.run and isinstance(x, Tensor):
        if not cell.built:
            cell(x[0], state)
        done = cell.run(x, state, mask)
        if done is not None:
            outputs, state = done
            return outputs if mask is None else outputs * ag.cast(ag.expand_dims(mask, 2), outputs.dtype), state
    rows = [ag.unstack(leaf) for leaf in ag.nest.flatten(x)]
    steps = [ag.nest.pack(x, list(leaves)) for leaves in zip(*rows, strict=True)]
    emitted, state = _step_by_step(cell, steps, state, None if mask is None else ag.unstack(mask))
    return ag.nest.map_structure(lambda *each: ag.stack(each), *emitted), state


def _step_by_step(cell: Any, steps: Sequence[Any], state: Any, masks: Any) -> tuple[list[Any], Any]:
    outputs = []
    for number, step in enumerate(steps):
        output, new = cell(step, state)
        if masks is not None:
            output = _chosen(masks[number], output, ag.nest.map_structure(ag.zeros_like, output))
            new = _chosen(masks[number], new, state)
        outputs.append(output)
        state = new
    return outputs, state


def _chosen(mask: Tensor, x: Any, y: Any) -> Any:
    """The first structure's rows where the mask is True, the second one's elsewhere. A state without rows, such as a
    scalar or a `TensorArray`, is the first one's.
    """
    return ag.nest.map_structure(lambda a, b: ag.where(mask, a, b) if isinstance(a, Tensor) and a.ndim else a, x, y)


def _check_cell(op: str, cell: Any) -> None:
    if not callable(cell) or not hasattr(cell, "state_size"):
        raise TypeError(f"{op}: cell must be an RNNCell; got {cell!r} of type {type(cell).__name__}.")


def _first_state(op: str, cell: Any, state: Any, batch: int | None, dtype: Any) -> Any:
    if state is not None:
        return ag.nest.map_structure(ag.convert_to_tensor, state)
    if dtype is None:
        raise ValueError(f"{op}: without an initial_state, dtype must be given, such as tf.float32.")
    return cell.zero_state(batch, dtype)


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: ag.TensorLike | None = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Run one cell forwards and another one backwards.

    Args:
        cell_fw: the cell that begins with the first step.
        cell_bw: the cell that begins with the last step of each example.
        initial_state_fw: the first state of the one; by default zeros.
        initial_state_bw: the first state of the other; by default zeros.
        Other arguments: see `dynamic_rnn`.

    Returns:
        The outputs of both, in the order of the inputs, and the last states of both.

    Raises:
        TypeError: a cell is no cell.
        ValueError: neither a state nor a dtype is given, or there is no time step.
        InvalidArgumentError: there is not one length for each example.

    >>> import agog_core as ag
    >>> from agog_layers.recurrent.rnn_cell import GRUCell
    >>> outputs, states = bidirectional_dynamic_rnn(GRUCell(4), GRUCell(2), ag.zeros([2, 5, 3]), dtype=ag.float32)
    >>> outputs[0].shape, outputs[1].shape
    (TensorShape([2, 5, 4]), TensorShape([2, 5, 2]))
    """
    time, batch = (0, 1) if time_major else (1, 0)

    def reversed_in_time(x: Any) -> Any:
        if sequence_length is None:
            return ag.nest.map_structure(lambda leaf: ag.reverse(leaf, [time]), x)
        return ag.nest.map_structure(
            lambda leaf: ag.reverse_sequence(leaf, sequence_length, seq_axis=time, batch_axis=batch), x
        )

    x = ag.nest.map_structure(ag.convert_to_tensor, inputs)
    options: dict[str, Any] = {"sequence_length": sequence_length, "dtype": dtype, "time_major": time_major}
    forward, last_forward = dynamic_rnn(cell_fw, x, initial_state=initial_state_fw, **options)
    backward, last_backward = dynamic_rnn(cell_bw, reversed_in_time(x), initial_state=initial_state_bw, **options)
    return (forward, reversed_in_time(backward)), (last_forward, last_backward)


def static_rnn(
    cell: Any,
    inputs: Sequence[Any],
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: ag.TensorLike | None = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Run a cell over a list of steps.

    Args:
        cell: an `RNNCell`.
        inputs: a list with a tensor of shape (batch, ...), or a structure of them, for each time.
        Other arguments: see `dynamic_rnn`.

    Returns:
        A list of the outputs, and the last state.

    Raises:
        TypeError: ``cell`` is no cell, or ``inputs`` is no list.
        ValueError: there is no step, or neither a state nor a dtype is given.
        InvalidArgumentError: there is not one length for each example.

    >>> import agog_core as ag
    >>> from agog_layers.recurrent.rnn_cell import GRUCell
    >>> outputs, state = static_rnn(GRUCell(4), [ag.zeros([2, 3])] * 5, dtype=ag.float32)
    >>> len(outputs), outputs[0].shape
    (5, TensorShape([2, 4]))
    """
    _check_cell("static_rnn", cell)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(
            f"static_rnn: inputs must be a list with one entry for each time; got {type(inputs).__name__}. "
            "tf.unstack makes one."
        )
    if not inputs:
        raise ValueError("static_rnn: inputs must have at least one time step; got an empty list.")
    x = ag.nest.map_structure(lambda *each: ag.stack(each), *inputs)
    outputs, state = _run("static_rnn", cell, x, sequence_length, initial_state, dtype)
    leaves = zip(*[ag.unstack(leaf) for leaf in ag.nest.flatten(outputs)], strict=True)
    return [ag.nest.pack(outputs, list(each)) for each in leaves], state


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Sequence[Any],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: ag.TensorLike | None = None,
    scope: Any = None,
) -> tuple[list[Tensor], Any, Any]:
    """Run one cell forwards and another one backwards over a list of steps.

    Args:
        inputs: a list with a tensor of shape (batch, ...) for each time.
        Other arguments: see `bidirectional_dynamic_rnn` and `dynamic_rnn`.

    Returns:
        A list of the outputs, those of both cells side by side; the last state of the one; that of the other.

    Raises:
        TypeError: a cell is no cell.
        ValueError: there is no step, or neither a state nor a dtype is given.
        InvalidArgumentError: there is not one length for each example.

    >>> import agog_core as ag
    >>> from agog_layers.recurrent.rnn_cell import GRUCell
    >>> outputs, *_ = static_bidirectional_rnn(GRUCell(4), GRUCell(2), [ag.zeros([2, 3])] * 5, dtype=ag.float32)
    >>> len(outputs), outputs[0].shape
    (5, TensorShape([2, 6]))
    """
    if not inputs:
        raise ValueError("static_bidirectional_rnn: inputs must have at least one time step; got an empty list.")
    (forward, backward), states = bidirectional_dynamic_rnn(
        cell_fw, cell_bw, ag.stack(inputs), sequence_length, initial_state_fw, initial_state_bw, dtype, time_major=True
    )
    return ag.unstack(ag.concat([forward, backward], 2)), *states
