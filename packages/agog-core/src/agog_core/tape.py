"""GradientTape: record ops, then walk the records backwards."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np

from agog_core import nest
from agog_core.broadcasting import static_shape
from agog_core.convert import convert_to_tensor, from_host
from agog_core.errors import InvalidArgumentError
from agog_core.ops.math import add
from agog_core.recording import Id, Record, Recording
from agog_core.shapes import Shape
from agog_core.tensor import Tensor, TensorLike, wrap
from agog_core.variable import Variable

_NONE, _ZERO = "none", "zero"
_log = logging.getLogger("agog")


class GradientTape:
    """Records the ops of a ``with`` block, for differentiation.

    Trainable variables are watched when they are read; other tensors by `watch`. Tapes nest: an outer one records what an inner
    one's `gradient` computes, which gives derivatives of any order.

    Args:
        persistent: whether `gradient` may be called more than once; the records then live as long as the tape.
        watch_accessed_variables: whether trainable variables are watched without being asked.

    >>> import agog_core as ag
    >>> x = ag.constant(3.0)
    >>> with ag.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> print(tape.gradient(y, x))
    tf.Tensor(6.0, shape=(), dtype=float32)
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._recording = Recording(watch_accessed_variables)
        self._persistent = persistent
        self._started = False
        self._used = False

    def __enter__(self) -> GradientTape:
        if self._recording.is_recording():
            raise ValueError("Tape is already recording.")
        self._recording.start()
        self._started = True
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._recording.is_recording():
            self._recording.stop()

    def watch(self, tensor: Any) -> None:
        """Watch tensors: ops on them are recorded from now on.

        Args:
            tensor: a tensor, a variable, or a structure of those. Tensors of integers are let pass; they have no gradient.

        Raises:
            TypeError: something in it is neither a tensor nor a variable.
        """
        for leaf in nest.flatten(tensor):
            if isinstance(leaf, Variable):
                self._recording.watch_variable(leaf, leaf._current())
            elif isinstance(leaf, Tensor):
                self._recording.watch_tensor(leaf)
            else:
                raise TypeError(
                    f"GradientTape.watch takes tensors and variables; got {leaf!r} of type {type(leaf).__name__}. "
                    "Make a tensor of it first, with tf.constant."
                )

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that were read or watched.

        Returns:
            A tuple in the order of the variables' construction.
        """
        return tuple(sorted((variable for variable, _ in self._recording.variables.values()), key=lambda v: v._serial))

    def reset(self) -> None:
        """Forget all records, and go on recording."""
        self._recording.clear()
        self._used = False

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside a ``with`` block.

        Returns:
            A context manager.

        Raises:
            RuntimeError: the tape is not recording.
        """
        if not self._recording.is_recording():
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._recording.stop()
        try:
            yield
        finally:
            self._recording.start()

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = _NONE
    ) -> Any:
        """The gradients of targets with respect to sources.

        Args:
            target: a tensor, a variable (its present value is meant), or a structure of those; the gradient is that of the sum of
                all their elements.
            sources: a tensor, a variable, or a structure of those.
            output_gradients: what the gradients of the targets start with, in the form of ``target``; None, also for single
                targets, means ones.
            unconnected_gradients: ``"none"`` or ``"zero"``: what to return for a source that no target depends on.

        Returns:
            The gradients, in the form of ``sources``, each of its source's shape and dtype.

        Raises:
            RuntimeError: the tape is not persistent and was used before.
            InvalidArgumentError: an output gradient's shape or dtype is not that of its target.
            ValueError: ``unconnected_gradients`` is something else, or the number of output gradients is wrong.
            TypeError: a target or a source is neither a tensor nor a variable.
        """
        if self._used:
            raise RuntimeError(
                "GradientTape.gradient can only be called once on non-persistent tapes. Make the tape with persistent=True, and delete it when done."
            )
        unconnected = getattr(unconnected_gradients, "value", unconnected_gradients)
        if unconnected not in (_NONE, _ZERO):
            raise ValueError(f"unconnected_gradients must be 'none' or 'zero'; got {unconnected_gradients!r}.")
        recording = self._recording
        if recording.is_recording():
            if self._persistent:
                _log.warning("Calling GradientTape.gradient on a persistent tape inside its context records the gradient's ops too.")
            else:
                recording.stop()
        leaves = nest.flatten(sources)
        source_ids = [self._ids(source, "sources") for source in leaves]
        gradients = self._seeds(target, output_gradients)
        records = recording.records.copy() if self._persistent else recording.records
        if not self._persistent:
            self._used = True
        backpropagate(records, gradients, {i for ids in source_ids for i in ids})
        results = [_total(gradients, ids) for ids in source_ids]
        if unconnected == _ZERO:
            results = [_filled(convert_to_tensor(leaf), 0) if r is None else r for leaf, r in zip(leaves, results, strict=True)]
        if not self._persistent:
            recording.clear()
        return nest.pack(sources, results)

    def _ids(self, source: Any, what: str) -> list[Id]:
        if isinstance(source, Variable):
            known = self._recording.variables.get(id(source))
            return known[1] if known else []
        if isinstance(source, Tensor):
            return [source._id] if self._recording.watches(source) else []
        raise TypeError(f"GradientTape.gradient: {what} are tensors and variables; got {source!r} of type {type(source).__name__}.")

    def _seeds(self, target: Any, output_gradients: Any) -> dict[Id, Tensor]:
        targets = nest.flatten(target)
        given = [None] * len(targets) if output_gradients is None else nest.flatten(output_gradients)
        if len(given) != len(targets):
            raise ValueError(f"GradientTape.gradient: {len(given)} output_gradients for {len(targets)} targets; give one for each, or None.")
        seeds: dict[Id, Tensor] = {}
        for one, gradient in zip(targets, given, strict=True):
            self._ids(one, "targets")
            tensor = one._current() if isinstance(one, Variable) else one
            if not self._recording.watches(tensor):
                continue
            seed = _filled(tensor, 1) if gradient is None else _checked(tensor, gradient)
            known = seeds.get(tensor._id)
            seeds[tensor._id] = seed if known is None else add(known, seed)
        return seeds


def backpropagate(records: list[Record], gradients: dict[Id, Tensor], keep: set[Id]) -> None:
    """Walk records backwards and add up the gradients of everything that the targets depend on.

    Records are taken off the list as they are used, and gradients that nobody asked for are dropped as soon as they are spent, so
    that memory is freed along the way.

    Args:
        records: the records, in the order of execution; the list is empty afterwards.
        gradients: ids to gradients: on entry those of the targets, on return also those of the sources.
        keep: the ids whose gradients are asked for.
    """
    pop, get, take = records.pop, gradients.get, gradients.pop
    last: Any = None
    g: Any = None
    while records:
        out, source, vjp, saved = pop()
        if out != last:  # the records of one op lie side by side
            last = out
            if type(out) is int:
                g = get(out) if out in keep else take(out, None)
            else:
                g = [get(i) if i in keep else take(i, None) for i in out]  # type: ignore[union-attr]  # a tuple of ids
                if all(each is None for each in g):
                    g = None
        if g is None:
            continue
        if type(source) is int:
            d = vjp(g, *saved)
            if d is not None:
                known = get(source)
                gradients[source] = d if known is None else add(known, d)
        else:
            for i, d in zip(source, vjp(g, *saved), strict=True):  # type: ignore[arg-type]  # a tuple of ids
                if i is not None and d is not None:
                    known = get(i)
                    gradients[i] = d if known is None else add(known, d)


def _total(gradients: dict[Id, Tensor], ids: Sequence[Id]) -> Tensor | None:
    total: Tensor | None = None
    for i in ids:
        g = gradients.get(i)
        if g is not None:
            total = g if total is None else add(total, g)
    return total


_constants: dict[tuple[Any, Shape, int], Any] = {}


def _filled(like: Tensor, value: int) -> Tensor:
    """A new tensor of ones or zeros. Small arrays are shared between calls; the tensor is not, since anybody may watch it."""
    table, shape = like._table, like._shape
    key = table, shape, value
    array = _constants.get(key)
    if array is None:
        array = from_host(np.full(shape, value, table.dtype.numpy_dtype), table)._array
        if math.prod(shape) <= 10_000:
            if len(_constants) >= 256:
                _constants.clear()
            _constants[key] = array
    return wrap(array, table, shape)


def _checked(target: Tensor, gradient: TensorLike) -> Tensor:
    tensor = convert_to_tensor(gradient, preferred_dtype=target.dtype)
    if tensor._shape != target._shape or tensor.dtype is not target.dtype:
        raise InvalidArgumentError(
            f"GradientTape.gradient: an output gradient has shape {static_shape(tensor.shape)} and dtype {tensor.dtype.name}; its target has "
            f"shape {target._shape} and dtype {target.dtype.name}, and both must agree."
        )
    return tensor
