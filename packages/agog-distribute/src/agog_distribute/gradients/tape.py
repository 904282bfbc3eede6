"""DistributedGradientTape: a tape whose gradients are those of all processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import GradientTape, Tensor
from agog_core.gradients.finality import Tell
from agog_distribute.gradients.averages import averaged
from agog_distribute.gradients.settings import Settings, check_settings
from agog_distribute.gradients.walks import walk_of
from agog_distribute.processes.groups import Group, everybody

__all__ = ["DistributedGradientTape"]


class DistributedGradientTape(GradientTape):
    """A tape whose gradients are the means over all processes, in each of them.

    What a program does with gradients behind the tape, such as clipping them by their global norm, then is what one
    process does that has the whole batch.

    Args:
        tape: a tape that has recorded already, of which this one takes the records; None for a new one.
        persistent: as for `GradientTape`, and so are ``watch_accessed_variables`` and ``source_lines``.
        group: the processes; all, by default.
        reduction: ``"mean"`` or ``"sum"``.
        compression: ``"bfloat16"`` to send gradients of variables in half the bytes; see `average_gradients`.
        bucket_bytes: how many bytes are sent at once, at most; see `average_gradients`.

    Raises:
        InvalidArgumentError: there is no such reduction, compression or size.

    >>> import agog_core as ag
    >>> v = ag.Variable(3.0)
    >>> with DistributedGradientTape() as tape:
    ...     loss = v * v
    >>> print(tape.gradient(loss, v))  # in one process
    tf.Tensor(6.0, shape=(), dtype=float32)
    """

    __slots__ = ("_of", "_settings")

    def __init__(
        self,
        tape: GradientTape | None = None,
        persistent: bool = False,
        watch_accessed_variables: bool = True,
        source_lines: bool = False,
        *,
        group: Group | None = None,
        reduction: str = "mean",
        compression: str | None = None,
        bucket_bytes: int | None = None,
    ) -> None:
        super().__init__(persistent, watch_accessed_variables, source_lines)
        check_settings("DistributedGradientTape", reduction, compression, bucket_bytes)
        self._settings = Settings(group or everybody(), reduction, compression, bucket_bytes)
        self._of = tape
        if tape is not None:
            self._take_over(tape)

    def _take_over(self, tape: GradientTape) -> None:
        if tape.is_recording:
            raise ValueError(
                "DistributedGradientTape: the tape is still recording; wrap it behind its with block, or write "
                "`with DistributedGradientTape() as tape:`."
            )
        self.go_on_as(tape)
        self.records, self.variables, self.breaks = tape.records, tape.variables, tape.breaks
        self.has_functions, self.watch_accessed_variables = tape.has_functions, tape.watch_accessed_variables
        self._persistent = tape._persistent

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Any:
        """See `GradientTape.gradient`; all processes call it with the same sources."""
        if self._of is not None:
            self._used = self._of._used
        try:
            return super().gradient(target, sources, output_gradients, unconnected_gradients)
        finally:
            if self._of is not None:
                self._of._used = self._used

    def pull_back(
        self, targets: Sequence[Any], sources: Sequence[Any], seeds: Sequence[Tensor | None] | None, tell: Tell = None
    ) -> list[Any]:
        """See `GradientTape.pull_back`; what it gives is averaged, bucket by bucket while it walks."""
        if self._settings.group.size == 1:
            return super().pull_back(targets, sources, seeds, tell)
        walk = walk_of(sources, self._settings)
        if walk is None:
            return averaged(super().pull_back(targets, sources, seeds, tell), sources, self._settings)
        try:
            return walk.finish(super().pull_back(targets, sources, seeds, walk.tell))
        except BaseException:
            walk.give_up()
            raise
