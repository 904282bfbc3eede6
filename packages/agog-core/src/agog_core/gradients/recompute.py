"""Recompute: activation checkpointing, less memory for more computation."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from agog_core import nest
from agog_core.gradients.tape import GradientTape
from agog_core.random import Generator, generator, set_generator
from agog_core.recording import Recording, active, record_function, stack, tapes_of_context
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracers import present_tracer, tracing
from agog_core.variables.variable import Variable

__all__ = ["recompute_grad"]


class _Again(Generator):
    """Random numbers of before, which traced functions take from where these came from."""

    gives_again = True


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let tapes keep only the arguments of a function; what is computed inside is computed again for the gradient.

    T. Chen et al., "Training deep nets with sublinear memory cost", 2016. Random ops give the same numbers the second
    time. Gradients are of any order.

    Args:
        f: a function of tensors; it may read variables. What it returns may be nested.

    Returns:
        A function of the same arguments.

    >>> import agog_core as ag
    >>> x = ag.constant(3.0)
    >>> with ag.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = recompute_grad(lambda x: x * x)(x)
    >>> print(tape.gradient(y, x))
    tf.Tensor(6.0, shape=(), dtype=float32)
    """

    @wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if not active:
            return f(*args, **kwargs)
        random_state = generator().get_state()
        tracer = present_tracer() if tracing else None
        count = 0 if tracer is None else tracer.count_keys()
        reads = Recording()
        before = stack.get()
        reads.start()
        try:
            reads.is_recording = False  # it only sees what is read
            stack.set((reads,))
            result = f(*args, **kwargs)
        finally:
            reads.stop()
            stack.set(before)
        keys = {} if tracer is None else tracer.keys_after(count)
        given = nest.flatten([args, kwargs])
        variables = [v for v, _ in reads.variables.values() if not any(v is other for other in given)]
        outs = [_detached(leaf) for leaf in nest.flatten(result)]
        sources = [x for x in given if isinstance(x, (Tensor, Variable))] + variables
        values = [convert_to_tensor(source) for source in sources]
        tapes = tapes_of_context()
        needed = [source for source, x in zip(sources, values, strict=True) if any(tape.watches(x) for tape in tapes)]

        def vjp(output_gradients: list[Any]) -> list[Any]:
            mine, ours = _Again(), generator()
            mine.set_state(random_state)
            mine.keys = keys
            set_generator(mine)
            try:
                with GradientTape(watch_accessed_variables=False) as tape:
                    tape.watch(needed)
                    again = nest.flatten(f(*args, **kwargs))
            finally:
                set_generator(ours)
            wanted = [(out, g) for out, g in zip(again, output_gradients, strict=True) if g is not None]
            return tape.pull_back([out for out, _ in wanted], sources, [g for _, g in wanted])

        record_function(tuple(outs), values, vjp)
        return nest.pack(result, outs)

    return decorated


def _detached(value: Any) -> Tensor:
    """A tensor that no tape has seen yet."""
    tensor = convert_to_tensor(value)
    return wrap(tensor._array, tensor._table, tensor._shape)
