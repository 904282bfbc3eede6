"""GradientTape: records ops, then walks the records backwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Self

from agog_core import nest
from agog_core.gradients.backpropagation import NO_TENSOR, conjugate, filled_like, seed, total
from agog_core.gradients.finality import Tell, walk_back
from agog_core.gradients.jacobians import stacked, unit_tensors
from agog_core.gradients.unconnected import without_gradient
from agog_core.observers.graph_node import GraphNode
from agog_core.ops.array.creation import zeros
from agog_core.ops.math.arithmetic import add
from agog_core.recording import Id, Recording
from agog_core.tensors import IndexedSlices, Tensor, convert_to_tensor
from agog_core.variables.variable import Variable

__all__ = ["GradientTape"]

_NONE, _ZERO = "none", "zero"
_LEAVES = frozenset((Tensor, Variable))


class GradientTape(Recording):
    """Records the ops of a ``with`` block, for differentiation.

    Trainable variables are watched when they are read; other tensors by `watch`. Tapes nest: an outer one records the
    `gradient` of an inner one, which gives derivatives of any order.

    Args:
        persistent: whether `gradient` may be called more than once; the records then live as long as the tape.
        watch_accessed_variables: whether trainable variables are watched without being asked.
        source_lines: whether to note the line of the program that each record comes from, for `summary`, `draw` and
            `tfe.why_none`. Recording takes several times as long.

    >>> import agog_core as ag
    >>> x = ag.constant(3.0)
    >>> with ag.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> print(tape.gradient(y, x))
    tf.Tensor(6.0, shape=(), dtype=float32)
    """

    __slots__ = ("_persistent", "_source_lines", "_used")

    def __init__(
        self, persistent: bool = False, watch_accessed_variables: bool = True, source_lines: bool = False
    ) -> None:
        super().__init__(watch_accessed_variables)
        self._persistent = persistent
        self._used = False
        self._source_lines = source_lines
        if source_lines:
            self._keep_lines()

    def _keep_lines(self) -> None:
        from agog_core.gradients.inspection import LinedRecords

        self.records, self.breaks = LinedRecords(), []

    def __graph_nodes__(self) -> list[GraphNode]:
        from agog_core.gradients.graph import nodes_of_tape

        return nodes_of_tape(self)

    def __enter__(self) -> Self:
        if self.is_recording:
            raise ValueError("Tape is already recording.")
        self.start()
        return self

    def watch(self, tensor: Any) -> None:
        """Watch tensors: ops on them are recorded from now on.

        Args:
            tensor: a tensor, a variable, or a structure of those. Tensors of integers are let pass; they have no
                gradient.

        Raises:
            TypeError: something in it is neither a tensor nor a variable.
        """
        if type(tensor) is Tensor:
            self.watch_tensor(tensor)
            return
        for leaf in nest.flatten(tensor):
            if isinstance(leaf, Variable):
                self.watch_variable(leaf, leaf._current())
            elif isinstance(leaf, Tensor):
                self.watch_tensor(leaf)
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
        return tuple(sorted((variable for variable, _ in self.variables.values()), key=lambda v: v._serial))

    def reset(self) -> None:
        """Forget all records and what is watched, and go on recording."""
        self.renew()
        self._used = False
        if self._source_lines:
            self._keep_lines()

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside a ``with`` block.

        Returns:
            A context manager.

        Raises:
            RuntimeError: the tape is not recording.
        """
        if not self.is_recording:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self.stop()
        try:
            yield
        finally:
            self.start()

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = _NONE
    ) -> Any:
        """The gradients of targets with respect to sources.

        Args:
            target: a tensor, a variable (its present value is meant), or a structure of those; the gradient is that of
                the sum of all their elements.
            sources: a tensor, a variable, or a structure of those.
            output_gradients: what the gradients of the targets start with, in the form of ``target``; None, also for
                single targets, means ones.
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
                "GradientTape.gradient can only be called once on non-persistent tapes. Make the tape with "
                "persistent=True, and delete it when done."
            )
        if unconnected_gradients not in (_NONE, _ZERO):
            raise ValueError(f"unconnected_gradients must be 'none' or 'zero'; got {unconnected_gradients!r}.")
        kind = type(sources)
        is_flat = (kind is list or kind is tuple) and _LEAVES.issuperset(map(type, sources))
        leaves = sources if is_flat else [sources] if kind is Tensor else nest.flatten(sources)
        targets = [target] if type(target) is Tensor else nest.flatten(target)
        seeds = output_gradients
        if seeds is not None:
            seeds = [seeds] if type(seeds) is Tensor else nest.flatten(seeds)
        was_recording = self.is_recording
        if was_recording:
            if self._persistent:
                import logging  # here, because its import takes milliseconds

                logging.getLogger("agog").warning(
                    "Calling GradientTape.gradient on a persistent tape inside its context records the gradient's ops "
                    "too."
                )
            else:
                self.stop()
        try:
            results = self._gradients(targets, leaves, seeds)
        except BaseException:
            if was_recording and not self._persistent and not self._used:
                self.start()  # nothing has happened yet
            raise
        if unconnected_gradients == _ZERO:
            results = [
                filled_like(convert_to_tensor(leaf), 0) if r is None else r
                for leaf, r in zip(leaves, results, strict=True)
            ]
        if is_flat:
            return results if kind is list else tuple(results)
        return results[0] if leaves and leaves[0] is sources else nest.pack(sources, results)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: str = _NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of each element of a target with respect to each element of the sources.

        Args:
            target: a tensor or a variable.
            sources: a tensor, a variable, or a structure of those.
            unconnected_gradients: ``"none"`` or ``"zero"``: the result for a source that the target does not depend on.

        Returns:
            The Jacobians, in the form of ``sources``, each of shape ``target.shape + source.shape``.

        Raises:
            RuntimeError: the tape is not persistent and was used before.
            ValueError: ``unconnected_gradients`` is something else.
            TypeError: the target or a source is neither a tensor nor a variable.

        >>> import agog_core as ag
        >>> x = ag.constant([1.0, 2.0])
        >>> with ag.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> print(tape.jacobian(y, x).numpy().tolist())
        [[2.0, 0.0], [0.0, 4.0]]
        """
        leaves = nest.flatten(sources)
        tensor = target._current() if isinstance(target, Variable) else target
        with self._reusable():
            rows = [self.gradient(target, leaves, row, unconnected_gradients) for row in unit_tensors(tensor, 0)]
        if not rows:  # a target without elements
            sizes = [leaf.shape.as_list() for leaf in leaves]
            empty = [zeros((*tensor._shape, *size), leaf.dtype) for size, leaf in zip(sizes, leaves, strict=True)]
            return nest.pack(sources, empty)
        columns = [stacked(tensor._shape, column, 0) for column in zip(*rows, strict=True)]
        return nest.pack(sources, columns)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: str = _NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of each example of a batch, where no example depends on another one.

        Args:
            target: a tensor of shape (batch, ...).
            source: a tensor of shape (batch, ...).
            unconnected_gradients: ``"none"`` or ``"zero"``: what to return where the target does not depend on the
                source.

        Returns:
            A tensor of shape ``(batch, *target.shape[1:], *source.shape[1:])``.

        Raises:
            ValueError: target and source have no batch axis, or batches of different sizes.
            RuntimeError: the tape is not persistent and was used before.

        >>> import agog_core as ag
        >>> x = ag.constant([[1.0], [2.0]])
        >>> with ag.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> print(tape.batch_jacobian(y, x).numpy().tolist())
        [[[2.0]], [[4.0]]]
        """
        shapes = tuple(target.shape.as_list()), tuple(source.shape.as_list())
        if not all(shapes) or shapes[0][0] != shapes[1][0]:
            raise ValueError(
                f"GradientTape.batch_jacobian: target has shape {shapes[0]} and source has shape {shapes[1]}; both "
                "need a first axis of the same size, the batch."
            )
        tensor = target._current() if isinstance(target, Variable) else target
        with self._reusable():
            rows = [self.gradient(target, source, row, unconnected_gradients) for row in unit_tensors(tensor, 1)]
        if not rows:
            return zeros((*shapes[0], *shapes[1][1:]), source.dtype)
        return stacked(tensor._shape[1:], rows, 1)

    def summary(self) -> str:
        """List the records: the op, its input and output tensors, the bytes kept for it, and the line.

        Returns:
            A table with a sum below. An array that several records keep counts once.
        """
        from agog_core.gradients.inspection import summary

        return summary(self)

    def draw(self, path: Any = None, format: str | None = None) -> str:
        """Draw the records as a graph.

        Args:
            path: a file to write the picture to, or None.
            format: ``"dot"``, ``"mermaid"`` or ``"svg"``; None for what the file's name ends with, or ``"dot"``.

        Returns:
            The picture's text.

        Raises:
            ValueError: the format is something else.
        """
        from agog_core.gradients.inspection import draw

        return draw(self, path, format)

    @contextmanager
    def _reusable(self) -> Iterator[None]:
        """Let several gradients be computed by a tape that may be used once."""
        was_persistent = self._persistent
        if self.is_recording and not was_persistent:
            self.stop()
        with self.stop_recording() if self.is_recording else nullcontext():
            self._persistent = True
            try:
                yield
            finally:
                self._persistent = was_persistent
                self._used = self._used or not was_persistent
                if not was_persistent:
                    self.records.clear()

    def _gradients(
        self, targets: Sequence[Any], sources: Sequence[Any], output_gradients: Sequence[Any] | None
    ) -> list[Any]:
        """`gradient` for lists of leaves."""
        seeds = None
        if output_gradients is not None:
            if len(output_gradients) != len(targets):
                raise ValueError(
                    f"GradientTape.gradient: {len(output_gradients)} output_gradients for {len(targets)} targets; give "
                    "one for each, or None."
                )
            pairs = zip(targets, output_gradients, strict=True)
            seeds = [None if gradient is None else seed(target, gradient) for target, gradient in pairs]
        found = self.pull_back(targets, sources, seeds)
        for position, g in enumerate(found):
            if g is not None and (type(g) is not Tensor or g._table.dtype.is_complex) and g.dtype.is_complex:
                found[position] = conjugate(g)
        return found

    def pull_back(
        self, targets: Sequence[Any], sources: Sequence[Any], seeds: Sequence[Tensor | None] | None, tell: Tell = None
    ) -> list[Any]:
        """Multiply by the transposed Jacobian, and conjugate nothing; `gradient` is this for users.

        Args:
            targets: tensors and variables.
            sources: tensors and variables.
            seeds: for each target what its gradient starts with, None for ones; or None for ones everywhere.
            tell: see `agog_core.gradients.finality.walk_back`.

        Returns:
            For each source a tensor, `IndexedSlices` or None.

        Raises:
            TypeError: a target or a source is neither a tensor nor a variable.
        """
        variables, serial = self.variables, self.serial
        gradients: dict[Id, Any] = {}
        for position, target in enumerate(targets):
            value = target.values if type(target) is IndexedSlices else target
            if type(value) is not Tensor:
                value = self._value(value, "targets")
            if value._watch is None or serial not in value._watch:
                continue
            start = seeds[position] if seeds is not None else None
            if start is None:
                start = filled_like(value, 1)
            known = gradients.get(value._id)
            gradients[value._id] = start if known is None else add(known, start)
        ids_of: list[Sequence[Id]] = []
        keep: set[Id] = set()
        for source in sources:
            if type(source) is Tensor and source._watch is not None and serial in source._watch:
                ids: Sequence[Id] = (source._id,)
            elif id(source) in variables:
                ids = variables[id(source)][1]
            else:
                ids = without_gradient(self._value(source, "sources"))
            keep.update(ids)
            ids_of.append(ids)
        self._used = not self._persistent
        records = self.records.copy() if self._persistent else self.records
        walk_back(records, gradients, keep, ids_of, tell)
        return [gradients.get(ids[0]) if len(ids) == 1 else total(gradients, ids) for ids in ids_of]

    def _value(self, value: Any, what: str) -> Tensor:
        if isinstance(value, Variable):
            return value._current()
        if not isinstance(value, Tensor):
            raise TypeError(NO_TENSOR.format(what=what, got=value, type=type(value).__name__))
        return value
