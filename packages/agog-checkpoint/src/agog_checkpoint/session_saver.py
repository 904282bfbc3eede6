"""Session saver: `Saver` with the arguments of programs for sessions."""

from __future__ import annotations

import os
import time
from typing import Any

from agog_checkpoint.folders import get_checkpoint_mtimes, update_checkpoint_state
from agog_checkpoint.saver import Saver
from agog_core.files import file_path, folder_of

__all__ = ["SessionSaver"]


class SessionSaver(Saver):
    """Saves and restores variables by their names, as `Saver` does; sessions, which mean nothing here, may be passed.

    Args:
        var_list: the variables, or a dict from names to them.
        max_to_keep: how many of the newest files are kept; None or 0 for all.
        keep_checkpoint_every_n_hours: after how many hours another one of the older files is kept, too.
        pad_step_number: whether the steps in the names of files have at least 8 digits.

    Raises:
        RuntimeError: there is no ``var_list``.
        TypeError: it holds something that is not a variable.

    >>> import tempfile
    >>> from agog_core import Variable
    >>> v = Variable(1.0, name="v")
    >>> saver = SessionSaver([v])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = saver.save(None, f"{folder}/model", global_step=7)
    ...     _ = v.assign(2.0)
    ...     saver.restore(None, path)
    >>> v.numpy()
    np.float32(1.0)
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: Any = None,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        super().__init__(var_list, max_to_keep)
        self._seconds_between = 3600.0 * keep_checkpoint_every_n_hours
        self._next_kept = time.time() + self._seconds_between
        self._pads = pad_step_number
        self._latest_filename: str | None = None

    @property
    def last_checkpoints(self) -> list[str]:
        """The files that were saved and not deleted since, the oldest first."""
        return list(self._paths)

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Say which files this saver may delete when they are too many.

        Args:
            last_checkpoints: paths that `save` has returned, the oldest first.
        """
        self._paths = list(last_checkpoints)

    def _list(self, path: str) -> None:
        """Make a file on the disk the newest, delete old ones, and note the rest."""
        others = [other for other in self._paths if other != path]
        for old in others[: max(len(others) + 1 - self._max_to_keep, 0)] if self._max_to_keep else ():
            if max(get_checkpoint_mtimes([old]), default=0.0) > self._next_kept:
                self._paths.remove(old)  # so that nobody deletes it
                self._next_kept += self._seconds_between
        super()._list(path)
        folder = folder_of(path)
        left = [kept for kept in self._paths if folder_of(kept) == folder]
        update_checkpoint_state(folder, path, left, self._latest_filename)

    def save(  # type: ignore[override]  # a session comes first, if there is one
        self,
        sess: Any,
        save_path: str | os.PathLike[str] | None = None,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
    ) -> str:
        """See `Saver.save`.

        Args:
            sess: accepted; or the folder and the beginning of the file's name, where ``save_path`` is None.
            save_path: the folder, and the beginning of the file's name.
            global_step: a number or a variable, for the end of the name; None for none.
            latest_filename: the name of the file that lists the checkpoints; None for ``checkpoint``.

        Returns:
            The path for `restore`.
        """
        self._latest_filename = latest_filename
        path = file_path("Saver.save", sess if save_path is None else save_path)
        if self._pads and global_step is not None:
            return super().save(f"{path}-{int(global_step):08d}")
        return super().save(path, global_step)

    def restore(self, sess: Any, save_path: str | os.PathLike[str] | None = None) -> None:
        """See `Saver.restore`.

        Args:
            sess: accepted; or the path, where nothing else is passed.
            save_path: what `save` returned.
        """
        super().restore(sess if save_path is None else save_path)
