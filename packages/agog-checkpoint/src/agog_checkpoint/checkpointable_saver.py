"""CheckpointableSaver: saves and restores an object with its parts."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from agog_checkpoint import formats, together
from agog_checkpoint.objects import snapshot
from agog_checkpoint.pointer import point_to
from agog_checkpoint.restore import Restore
from agog_checkpoint.status import CheckpointLoadStatus, InitializationOnlyStatus
from agog_core import Checkpointable, Variable
from agog_core.files import file_path


class CheckpointableSaver:
    """Saves and restores one object with its parts, without numbering the files: what `Checkpoint` does for several.

    Args:
        root_checkpointable: the object, whose name is no part of the keys.

    >>> import tempfile
    >>> from agog_checkpoint import Checkpoint
    >>> v = Variable(1.0)
    >>> saver = CheckpointableSaver(Checkpoint(v=v))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = saver.save(f"{folder}/ckpt", checkpoint_number=7)
    ...     _ = v.assign(2.0)
    ...     print(saver.restore(path).assert_consumed())
    <CheckpointLoadStatus of '...ckpt-7'
      matched (1): v>
    >>> v.numpy()
    np.float32(1.0)
    """

    def __init__(self, root_checkpointable: Checkpointable) -> None:
        self._root = root_checkpointable

    def save(
        self, file_prefix: str | os.PathLike[str], checkpoint_number: int | Variable | None = None, session: Any = None
    ) -> str:
        """Save all state into one file, and make that the newest checkpoint of its folder.

        Args:
            file_prefix: the folder, which is made if it is missing, and the beginning of the file's name.
            checkpoint_number: a number or a variable, for the end of the name; None for none.

        Returns:
            The path for `restore`.

        Raises:
            ValueError: an object's state cannot be saved, or a dict has a key that is not a string.
            ResourceExhaustedError: the disk is full.
            PermissionDeniedError: the folder may not be written.
            UnknownError: the system failed in another way. In all cases earlier checkpoints are as they were.
        """
        path = file_path("CheckpointableSaver.save", file_prefix)
        if checkpoint_number is not None:
            path = f"{path}-{int(checkpoint_number)}"
        processes = together.all_processes("CheckpointableSaver.save")
        together.save(processes, path, snapshot(self._root), then=partial(point_to, path))
        return path

    def restore(self, save_path: str | os.PathLike[str] | None) -> CheckpointLoadStatus | InitializationOnlyStatus:
        """Restore all state as `Checkpoint.restore` does.

        Args:
            save_path: what `save` or `latest_checkpoint` returned; None restores nothing.

        Returns:
            A status: its `repr` is a report, its methods check for complete matches.

        Raises:
            NotFoundError: there is no such checkpoint.
            DataLossError: the file is truncated or damaged, or is no checkpoint of agog.
            PermissionDeniedError: the file may not be read.
            ValueError: a shape or dtype in the file is not that of the object.
        """
        if save_path is None:
            return InitializationOnlyStatus()
        path = file_path("CheckpointableSaver.restore", save_path)
        graph, arrays, fit = formats.read(path)
        graph = graph if fit is None else fit(graph, self._root)
        return CheckpointLoadStatus(Restore(path, graph, arrays, self._root, borrow=True), self._root)
