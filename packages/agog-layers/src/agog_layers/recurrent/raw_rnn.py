"""Raw RNN: a cell in a loop controlled by a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agog_core as ag
from agog_core import Tensor

__all__ = ["raw_rnn"]


def raw_rnn(
    cell: Any,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Run a cell on inputs from a function, until the function reports that all examples are finished.

    The function is called as ``loop_fn(time, cell_output, cell_state, loop_state)``, with an int32 tensor ``time``:
    before the first step with time 0 and None for the others, and after each step. It returns ``(finished, next_input,
    next_state, emit_output, next_loop_state)``. The first time, ``next_state`` is the initial state, and
    ``emit_output`` is None or says the structure, shapes (without batch) and dtypes of what is emitted.

    Args:
        cell: an `RNNCell`.
        loop_fn: the function.

    Returns:
        A `TensorArray` (or a structure of them) of what was emitted at each time, zeros for finished examples; the last
        state; the last loop state.

    Raises:
        TypeError: ``cell`` or ``loop_fn`` is no function.

    >>> import agog_core as ag
    >>> from agog_layers.recurrent.rnn_cell import GRUCell
    >>> cell, x = GRUCell(4), ag.zeros([5, 2, 3])
    >>> def loop_fn(time, output, state, loop_state):
    ...     finished = time >= [5, 3]
    ...     following = ag.zeros([2, 3]) if ag.reduce_all(finished) else x[time]
    ...     state = cell.zero_state(2, ag.float32) if output is None else state
    ...     return finished, following, state, output, None
    >>> outputs, state, _ = raw_rnn(cell, loop_fn)
    >>> outputs.stack().shape
    TensorShape([5, 2, 4])
    """
    for what, value in (("cell", cell), ("loop_fn", loop_fn)):
        if not callable(value):
            raise TypeError(f"raw_rnn: {what} must be callable; got {value!r} of type {type(value).__name__}.")
    time = 0
    finished, inputs, state, form, loop_state = loop_fn(ag.convert_to_tensor(time), None, None, None)
    finished = ag.convert_to_tensor(finished)
    emitted: list[Any] = []
    while not bool(ag.reduce_all(finished)):
        output, new = cell(inputs, state)
        time += 1
        over, inputs, new, emit, next_loop_state = loop_fn(ag.convert_to_tensor(time), output, new, loop_state)
        emit = output if emit is None and form is None else emit
        emitted.append(_chosen(finished, ag.nest.map_structure(ag.zeros_like, emit), emit))
        state = _chosen(finished, state, new)
        loop_state = loop_state if next_loop_state is None else next_loop_state
        finished = ag.logical_or(finished, over)
    if emitted:
        form = emitted[0]
    elif form is None:
        form = ag.nest.map_structure(
            lambda size: ag.zeros(_sizes(size), ag.nest.flatten(state)[0].dtype), cell.output_size
        )
    rows = [ag.nest.flatten(each) for each in emitted]
    arrays = [_array(leaf.dtype, [row[n] for row in rows]) for n, leaf in enumerate(ag.nest.flatten(form))]
    return ag.nest.pack(form, arrays), state, loop_state


def _chosen(mask: Tensor, x: Any, y: Any) -> Any:
    """The first structure's rows where the mask is True, the second one's elsewhere."""
    return ag.nest.map_structure(lambda a, b: ag.where(mask, a, b), x, y)


def _array(dtype: Any, values: list[Tensor]) -> ag.TensorArray:
    array = ag.TensorArray(dtype, size=len(values))
    for time, value in enumerate(values):
        array = array.write(time, value)
    return array


def _sizes(size: Any) -> list[int]:
    return [each or 0 for each in size.as_list()] if isinstance(size, ag.TensorShape) else [int(size)]
