"""CheckpointManager: keeps the newest checkpoints of a folder, and deletes the others."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from agog_checkpoint import file
from agog_checkpoint.checkpoint import Checkpoint
from agog_checkpoint.pointer import Kept, latest_checkpoint, list_kept, read_kept
from agog_checkpoint.warning import CheckpointWarning
from agog_core.errors import OpError
from agog_core.files import absolute, file_path, is_url, join

_SECONDS_PER_HOUR = 3600.0


class CheckpointManager:
    """Saves numbered checkpoints into a folder, and deletes all but the newest of them.

    It deletes only what a manager of this folder saved: its list is in the folder's file ``checkpoint``. A new manager
    continues it, and several managers may share it, in one program or more. That file names a new checkpoint before an
    old one is deleted. So a crash at any instant leaves the newest one whole, and no unlisted file.

    Args:
        checkpoint: the `Checkpoint` to save.
        directory: the folder, which is made if it is missing.
        max_to_keep: how many of the newest checkpoints are kept; None for all.
        keep_checkpoint_every_n_hours: an old checkpoint is kept for good if it was made so many hours after the last
            such one, or after the first manager of the folder; None keeps none.
        best: the name of a metric, and ``"max"`` or ``"min"``: the checkpoint that was saved with the best value is
            kept beside the newest; None keeps none for that.
        max_shard_bytes: see `Checkpoint.save`.
        asynchronous: whether `save` returns at once, and files are written and deleted behind: later assignments do not
            change what is saved. A failure is then raised by the next `save`, or by `wait`.
        init_fn: what `restore_or_initialize` calls where there is no checkpoint; None for nothing.

    Raises:
        ValueError: ``max_to_keep`` is no positive integer, or ``best`` is something else.
        DataLossError: the folder's file ``checkpoint`` is damaged.
        PermissionDeniedError: it may not be read.

    >>> import tempfile
    >>> from agog_core import Variable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manager = CheckpointManager(Checkpoint(v=Variable(1.0)), folder, max_to_keep=2)
    ...     for _ in range(3):
    ...         _ = manager.save()
    ...     [os.path.basename(path) for path in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manager = CheckpointManager(Checkpoint(v=Variable(1.0)), folder, max_to_keep=1, best=("accuracy", "max"))
    ...     for accuracy in (0.7, 0.9, 0.8):
    ...         _ = manager.save(metrics={"accuracy": accuracy})
    ...     [os.path.basename(path) for path in manager.checkpoints], os.path.basename(manager.best_checkpoint)
    (['ckpt-2', 'ckpt-3'], 'ckpt-2')
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str | os.PathLike[str],
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        best: tuple[str, str] | None = None,
        max_shard_bytes: int | None = None,
        asynchronous: bool = False,
        init_fn: Callable[[], Any] | None = None,
    ) -> None:
        if max_to_keep is not None and not (hasattr(max_to_keep, "__index__") and max_to_keep > 0):
            raise ValueError(
                "CheckpointManager: max_to_keep must be a positive number of checkpoints, or None to keep all; got "
                f"{max_to_keep}."
            )
        if best is not None and not _is_metric_and_mode(best):
            raise ValueError(
                "CheckpointManager: best must be the name of a metric with 'max' or 'min', such as ('accuracy', "
                f"'max'), or None; got {best!r}."
            )
        self._checkpoint = checkpoint
        self._best = best
        self._folder = file_path("CheckpointManager", directory)
        self._place = absolute(self._folder)  # the program may change its folder while files are written behind
        self._max_to_keep = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._max_shard_bytes = max_shard_bytes
        self._asynchronous = asynchronous
        self._init_fn = init_fn
        self._newest = latest_checkpoint(self._folder)
        now = time.time()
        times, self._preserved, metrics, _ = read_kept(self._folder) or Kept({}, now)
        self._listed = set(times)  # the names in the list on the disk, when this manager read or wrote it last
        if now < self._preserved:
            warnings.warn(
                f"CheckpointManager: the clock went back, to before checkpoints of {self._folder!r} were made; those "
                "that are there are kept for good.",
                CheckpointWarning,
                stacklevel=2,
            )
            times, self._preserved = {}, now
        # After a crash during deletion the list has names of files that are gone.
        self._times = {name: min(made, now) for name, made in times.items() if file.exists(self._path(name))}
        self._metrics = {name: metrics[name] for name in self._times if name in metrics}

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the newest checkpoint of the folder, for `Checkpoint.restore`; None if there is none."""
        if self._newest is not None and not file.exists(join(self._place, os.path.basename(self._newest))):
            self._newest = latest_checkpoint(self._folder)  # another manager has saved there, and has deleted that one
        return self._newest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the newest checkpoints and the best, the oldest first, without those that are kept for good."""
        return [self._path(name) for name in self._times]

    @property
    def best_checkpoint(self) -> str | None:
        """The path of the checkpoint with the best value of the metric, the first of several; None if there is none.

        Values that are no numbers (NaN) are not looked at.
        """
        name = self._best_of(self._metrics)
        return None if name is None else self._path(name)

    def restore_or_initialize(self) -> str | None:
        """Restore the newest checkpoint of the folder; call ``init_fn`` where there is none.

        Returns:
            The path of what was restored; None if there is no checkpoint.

        Raises:
            ValueError, DataLossError and others: see `Checkpoint.restore`.

        >>> import tempfile
        >>> from agog_core import Variable
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     manager = CheckpointManager(Checkpoint(v=Variable(1.0)), folder, 2, init_fn=lambda: print("new"))
        ...     before = manager.restore_or_initialize()
        ...     _ = manager.save()
        ...     before, os.path.basename(manager.restore_or_initialize())
        new
        (None, 'ckpt-1')
        """
        newest = self.latest_checkpoint
        if newest is not None:
            self._checkpoint.restore(newest)
        elif self._init_fn is not None:
            self._init_fn()
        return newest

    def metrics(self, checkpoint: str) -> dict[str, float]:
        """The metrics that a checkpoint was saved with.

        Args:
            checkpoint: one of `checkpoints`.

        Returns:
            Names to numbers; empty for a checkpoint without metrics, or outside `checkpoints`.
        """
        return dict(self._metrics.get(os.path.basename(checkpoint), {}))

    def save(self, checkpoint_number: Any = None, metrics: Mapping[str, Any] | None = None) -> str:
        """Save a checkpoint, and delete those that are too old.

        Args:
            checkpoint_number: a number or a variable, for the end of the file's name; None for
                `Checkpoint.save_counter`, which counts in both cases.
            metrics: names to numbers, or to scalar tensors, which are noted in the folder's file ``checkpoint``; None
                for a checkpoint that cannot be the best.

        Returns:
            The path, ``<directory>/ckpt-<number>``, for `Checkpoint.restore`.

        Raises:
            ValueError: an object's state cannot be saved; or ``metrics`` lack the one that the best is chosen by.
            ResourceExhaustedError: the disk is full.
            PermissionDeniedError: the folder may not be written.
            UnknownError: the system failed in another way. In all cases earlier checkpoints are as they were.
        """
        if metrics is not None and self._best is not None and self._best[0] not in metrics:
            raise ValueError(
                f"CheckpointManager.save: the best checkpoint is chosen by {self._best[0]!r}, but metrics have "
                f"{', '.join(map(repr, metrics)) or 'nothing'}; add it, or pass no metrics."
            )
        noted = {name: float(value) for name, value in (metrics or {}).items()}
        with self._checkpoint._behind.lock:
            self.wait()
            counter = self._checkpoint.save_counter
            counter.assign_add(1)
            try:
                name = f"ckpt-{int(counter if checkpoint_number is None else checkpoint_number)}"
                path = self._path(name)
                then = partial(self._list, name, noted)
                follow = partial(self._follow, name)
                self._checkpoint._write(path, then, self._max_shard_bytes, self._asynchronous, follow)
            except BaseException:
                counter.assign_sub(1)
                raise
        return path

    def wait(self) -> None:
        """Wait until asynchronous saves are on the disk, and old checkpoints are deleted.

        Raises:
            ResourceExhaustedError: the last one has failed, because the disk is full.
            PermissionDeniedError: it has failed, because the folder may not be written.
            UnknownError: it has failed in another way. In all cases earlier checkpoints are as they were.
        """
        self._checkpoint._behind.wait()

    def _list(self, name: str, metrics: Mapping[str, float]) -> None:
        """Make a checkpoint that is on the disk the newest."""

        def noted() -> Kept:
            self._take_over()
            times = {other: made for other, made in self._times.items() if other != name} | {name: time.time()}
            all_metrics = {other: values for other, values in self._metrics.items() if other != name}
            all_metrics |= {name: metrics} if metrics else {}
            return Kept(times, self._preserved, all_metrics, self._best_of(all_metrics))

        kept = self._note(name, noted)
        self._newest, self._times, self._metrics = self._path(name), dict(kept.times), dict(kept.metrics)
        self._sweep(name)

    def _note(self, newest: str | None, make: Callable[[], Kept]) -> Kept:
        """Write the list on the disk; see `list_kept`."""
        made: list[Kept] = []
        list_kept(self._place, newest, lambda: made.append(make()) or made[-1])  # type: ignore[func-returns-value]
        self._listed = set(made[-1].times)
        return made[-1]

    def _follow(self, name: str) -> None:
        """Take over the list that another process has written, with this checkpoint as the newest."""
        kept = read_kept(self._place) or Kept({}, self._preserved)
        self._times, self._preserved, self._metrics = dict(kept.times), kept.preserved, dict(kept.metrics)
        self._listed = set(self._times)
        self._newest = self._path(name)

    def _sweep(self, newest: str) -> None:
        """Delete what is too old; the list on the disk is that of before until all is deleted."""
        best = self._best_of(self._metrics)
        old = list(self._times)[: -self._max_to_keep] if self._max_to_keep is not None else []
        old = [name for name in old if name != best]
        for name in old:
            made = self._times[name]
            if self._hours and made - self._hours * _SECONDS_PER_HOUR >= self._preserved:
                self._preserved = made
            elif not file.remove(join(self._place, name)):
                continue
            # Not in place: another thread may read them.
            self._times = {other: made for other, made in self._times.items() if other != name}
            self._metrics = {other: values for other, values in self._metrics.items() if other != name}
        if old:
            with suppress(OpError):  # the list on the disk still holds all these names, and the next save writes it
                # Nothing locks a folder at a URL, so that others may have saved since.
                self._note(None if is_url(self._place) else newest, self._present)

    def _present(self) -> Kept:
        if is_url(self._place):
            self._take_over()
        return Kept(self._times, self._preserved, self._metrics, self._best_of(self._metrics))

    def _take_over(self) -> None:
        """Go on from the list on the disk, where another manager has written it since."""
        kept = None
        with suppress(OpError):  # what is damaged is written anew
            kept = read_kept(self._place)
        if kept is None:
            return
        fresh = {name: made for name, made in kept.times.items() if name not in self._listed}
        others = {name: made for name, made in self._times.items() if name not in kept.times}
        gone = {name for name in (*fresh, *others) if not file.exists(join(self._place, name))}
        times = sorted({**fresh, **self._times}.items(), key=lambda item: item[1]) if fresh else self._times.items()
        self._times = {name: made for name, made in times if name not in gone}
        metrics = {**{name: kept.metrics[name] for name in fresh if name in kept.metrics}, **self._metrics}
        self._metrics = {name: values for name, values in metrics.items() if name not in gone}
        self._preserved = max(self._preserved, kept.preserved) if fresh else self._preserved

    def _best_of(self, all_metrics: Mapping[str, Mapping[str, float]]) -> str | None:
        if self._best is None:
            return None
        metric, mode = self._best
        sign = 1.0 if mode == "max" else -1.0
        values = {name: sign * metrics[metric] for name, metrics in all_metrics.items() if metric in metrics}
        values = {name: value for name, value in values.items() if not math.isnan(value)}
        return max(values, key=values.__getitem__, default=None)

    def _path(self, name: str) -> str:
        return join(self._folder, name)


def _is_metric_and_mode(best: Any) -> bool:
    if not isinstance(best, tuple) or len(best) != 2:
        return False
    metric, mode = best
    return isinstance(metric, str) and mode in ("max", "min")
