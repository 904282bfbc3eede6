"""Backup: a callback that resumes an interrupted training."""

from __future__ import annotations

import os
from typing import Any

from agog_checkpoint import Checkpoint, checkpoint_exists, remove_checkpoint
from agog_core import Variable
from agog_core.files import file_path, join
from agog_core.random import generator
from agog_training.callbacks.callback import Callback, Logs

__all__ = ["BackupAndRestore"]


class BackupAndRestore(Callback):
    """Saves the training after each epoch; the same call of `fit` goes on with the next one if it was interrupted.

    It saves the model, its optimizer, the random state and the epoch's number: the training ends with the same bits as
    an uninterrupted one. When the training ends, the backup is removed.

    Args:
        backup_dir: the folder of the backup, which nothing else writes to.
        save_freq: ``"epoch"``.
        delete_checkpoint: whether the backup is removed when the training ends.
        save_before_preemption: must be False.

    Raises:
        ValueError: ``save_freq`` or ``save_before_preemption`` is something else.

    >>> import tempfile
    >>> import numpy as np
    >>> from agog_layers import Dense
    >>> from agog_training import Sequential
    >>> model = Sequential([Dense(1, input_shape=(2,))])
    >>> model.compile("sgd", "mse")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     backup = BackupAndRestore(folder, delete_checkpoint=False)
    ...     first = model.fit(np.eye(2), np.ones(2), epochs=2, verbose=0, callbacks=[backup])
    ...     second = model.fit(np.eye(2), np.ones(2), epochs=5, verbose=0, callbacks=[backup])
    >>> first.epoch, second.epoch
    ([0, 1], [2, 3, 4])
    """

    def __init__(
        self,
        backup_dir: str | os.PathLike[str],
        save_freq: str = "epoch",
        delete_checkpoint: bool = True,
        save_before_preemption: bool = False,
    ) -> None:
        if save_freq != "epoch" or save_before_preemption:
            raise ValueError(
                "BackupAndRestore saves after each epoch: save_freq must be 'epoch' and save_before_preemption False; "
                f"got {save_freq!r} and {save_before_preemption!r}."
            )
        self.backup_dir, self.delete_checkpoint = file_path("BackupAndRestore", backup_dir), delete_checkpoint
        self._path = join(self.backup_dir, "backup")

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._epoch = Variable(0, trainable=False, name="epoch", dtype="int64")
        parts: dict[str, Any] = {"model": self.model, "epoch": self._epoch, "random": generator()}
        self._checkpoint = Checkpoint(**parts)
        if checkpoint_exists(self._path):
            self._checkpoint.restore(self._path)
        self.first_epoch = int(self._epoch)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        self._epoch.assign(epoch + 1)
        self._checkpoint.write(self._path)

    def on_train_end(self, logs: Logs | None = None) -> None:
        if self.delete_checkpoint:
            remove_checkpoint(self._path)
