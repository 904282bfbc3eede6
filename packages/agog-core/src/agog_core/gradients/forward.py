"""Forward mode: tangents, propagated with the values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self
from weakref import ref

from agog_core import nest
from agog_core.errors import InvalidArgumentError
from agog_core.gradients.backpropagation import backpropagate
from agog_core.ops.array.creation import zeros_like
from agog_core.ops.math.arithmetic import add
from agog_core.recording import Id, Recording, active, stack, watch_output
from agog_core.tensors import Tensor, convert_to_tensor
from agog_core.variables.variable import Variable

__all__ = ["ForwardAccumulator", "jvp"]


class Followed(ref[Tensor]):
    """A reference to a tensor with a tangent. No callback in Python is told of its death: it would swallow a Ctrl-C."""

    __slots__ = ("id",)

    id: Id


class ForwardAccumulator(Recording):
    """Computes Jacobian-vector products while a function runs, one op after the other, and keeps no records.

    The tangent of an op's output comes from the op's vjp: a vjp is linear in the gradient, so its own vjp is the
    Jacobian (B. Christianson, "Reverse accumulation and implicit functions", 1998, uses the same fact). Accumulators
    nest with each other and with tapes, in any order.

    Args:
        primals: a tensor, a variable, or a structure of those: what to differentiate with respect to.
        tangents: the direction, in the same structure, of the same shapes and dtypes.

    Raises:
        TypeError: a primal is neither a tensor nor a variable, or is not of a floating or complex dtype.
        ValueError: there are not as many tangents as primals.
        InvalidArgumentError: a tangent's shape or dtype is not its primal's.

    >>> import agog_core as ag
    >>> x = ag.constant([1.0, 2.0])
    >>> with ForwardAccumulator(x, ag.constant([1.0, 0.0])) as forward:
    ...     y = ag.reduce_sum(x * x)
    >>> print(forward.jvp(y))
    tf.Tensor(2.0, shape=(), dtype=float32)
    """

    __slots__ = ("_dead", "_followed", "_tangents")

    is_forward = True

    def __init__(self, primals: Any, tangents: Any) -> None:
        super().__init__(watch_accessed_variables=False)
        self._tangents: dict[Id, Tensor] = {}
        self._followed: dict[Id, Followed] = {}
        self._dead: list[Any] = []  # the references among them whose tensors are dead
        values = nest.flatten(primals)
        directions = nest.flatten(tangents) if nest.is_nested(primals) else [tangents]
        if len(values) != len(directions):
            raise ValueError(
                f"ForwardAccumulator: {len(directions)} tangents for {len(values)} primals; give one for each."
            )
        for value, direction in zip(values, directions, strict=True):
            self._begin_at(value, direction)

    def __enter__(self) -> Self:
        if self in active:
            raise ValueError("The accumulator is active already.")
        self.start()
        self.is_recording = False  # it computes tangents instead; see `follow`
        return self

    def jvp(self, target: Any, unconnected_gradients: str = "none") -> Any:
        """The tangents of targets: the Jacobian times the direction.

        Args:
            target: a tensor, a variable, or a structure of those, computed while the accumulator was active.
            unconnected_gradients: ``"none"`` or ``"zero"``: what to return for a target that depends on no primal.

        Returns:
            The tangents, in the form of ``target``, each of its target's shape and dtype.

        Raises:
            ValueError: ``unconnected_gradients`` is something else.
        """
        if unconnected_gradients not in ("none", "zero"):
            raise ValueError(f"unconnected_gradients must be 'none' or 'zero'; got {unconnected_gradients!r}.")

        def tangent(leaf: Any) -> Tensor | None:
            tensor = leaf._current() if isinstance(leaf, Variable) else convert_to_tensor(leaf)
            found = self._tangent(tensor)
            return zeros_like(tensor) if found is None and unconnected_gradients == "zero" else found

        return nest.map_structure(tangent, target)

    def _tangent(self, tensor: Tensor) -> Tensor | None:
        """The tangent of a tensor, if it has one."""
        return self._tangents.get(tensor._id) if self.watches(tensor) else None

    def _give(self, tensor: Tensor, tangent: Tensor) -> None:
        """Let a tensor have a tangent as long as it lives."""
        watch_output(tensor, self)
        self._tangents[tensor._id] = tangent
        self._follow(tensor)

    def _follow(self, tensor: Tensor) -> None:
        self._followed[tensor._id] = followed = Followed(tensor, self._dead.append)
        followed.id = tensor._id

    def follow(self, record: Callable[..., None], *call: Any) -> None:
        """Compute the tangents of what an op returned.

        Args:
            record: what would append the op's records to a tape.
            *call: its arguments; the outputs and the inputs are among them.
        """
        while self._dead:
            dead = self._dead.pop().id
            self._tangents.pop(dead, None)
            self._followed.pop(dead, None)
        before = stack.get()
        try:
            stack.set((self,))
            self.is_recording = True
            record(*call)
        finally:
            self.is_recording = False
            stack.set(before)
        records, self.records = self.records, []
        outs = {leaf._id: leaf for leaf in _tensors(call) if self.watches(leaf) and leaf._id not in self._tangents}
        try:
            stack.set(tuple([tape for tape in before if tape is not self]))
            for out, source, vjp, saved in records:
                if out is not None:
                    self._push((out,), (source,), vjp, saved, outs)
                else:
                    ids, sources, *rest = saved
                    self._push(ids if isinstance(ids, tuple) else (ids,), sources, vjp, rest, outs, type(ids) is tuple)
        finally:
            stack.set(before)
        for each in outs.values():
            if each._id in self._tangents:
                self._follow(each)

    def _push(
        self,
        outs: Sequence[Id],
        sources: Sequence[Id | None],
        vjp: Callable[..., Any],
        saved: Sequence[Any],
        tensors: dict[Id, Tensor],
        jointly: bool = False,
    ) -> None:
        """Add the share of some sources to the tangents of an op's outputs, by differentiating the op's vjp."""
        inner = Recording(watch_accessed_variables=False)
        seeds = [zeros_like(tensors[out]) if out in tensors else None for out in outs]
        for seed in seeds:
            if seed is not None:
                inner.watch_tensor(seed)
        inner.start()
        try:
            results = vjp(seeds if jointly else seeds[0], *saved)
            listed = results if len(sources) > 1 or isinstance(results, (tuple, list)) else [results]
            listed = [None if result is None else convert_to_tensor(result) for result in listed]  # some may be sparse
        finally:
            inner.stop()
        gradients: dict[Id, Tensor] = {}
        for source, linear in zip(sources, listed, strict=True):
            tangent = None if source is None else self._tangents.get(source)
            if tangent is not None and linear is not None and inner.watches(linear):
                known = gradients.get(linear._id)
                gradients[linear._id] = tangent if known is None else add(known, tangent)
        ids = {seed._id for seed in seeds if seed is not None}
        backpropagate(inner.records, gradients, ids)
        for out, seed in zip(outs, seeds, strict=True):
            share = None if seed is None else gradients.get(seed._id)
            if share is not None:
                known = self._tangents.get(out)
                self._tangents[out] = convert_to_tensor(share) if known is None else add(known, share)

    def _begin_at(self, primal: Any, direction: Any) -> None:
        if not isinstance(primal, (Tensor, Variable)) or not primal.dtype.is_differentiable:
            shown = f"a tensor of dtype {primal.dtype.name}" if isinstance(primal, (Tensor, Variable)) else repr(primal)
            raise TypeError(
                f"ForwardAccumulator: primals are tensors and variables of floating or complex dtypes; got {shown}."
            )
        value = primal._current() if isinstance(primal, Variable) else primal
        tangent = convert_to_tensor(direction, preferred_dtype=value.dtype)
        if tangent._shape != value._shape or tangent.dtype is not value.dtype:
            raise InvalidArgumentError(
                f"ForwardAccumulator: a tangent has shape {tangent._shape} and dtype {tangent.dtype.name}; its primal "
                f"has shape {value._shape} and dtype {value.dtype.name}, and both must agree."
            )
        if isinstance(primal, Variable):
            self.watch_variable(primal, value)
        else:
            self.watch_tensor(value)
        known = self._tangents.get(value._id)
        self._tangents[value._id] = tangent if known is None else add(known, tangent)


def _tensors(values: Any) -> list[Tensor]:
    """The tensors among the arguments of a recording function."""
    return [leaf for leaf in nest.flatten(list(values)) if type(leaf) is Tensor]


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value of a function, and its derivative in a direction.

    Args:
        f: a function of tensors.
        primals: its arguments.
        tangents: the direction: one for each argument, of its shape and dtype.

    Returns:
        The pair (what ``f`` returned, the tangents in the same form; None if it depends on no argument).

    >>> value, tangent = jvp(lambda x: x * x, [3.0], [1.0])
    >>> float(value), float(tangent)
    (9.0, 6.0)
    """
    points = [convert_to_tensor(primal) for primal in primals]
    directions = [convert_to_tensor(t, preferred_dtype=x.dtype) for x, t in zip(points, tangents, strict=True)]
    with ForwardAccumulator(points, directions) as forward:
        value = f(*points)
    return value, forward.jvp(value)
