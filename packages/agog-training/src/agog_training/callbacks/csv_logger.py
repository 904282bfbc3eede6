"""CSVLogger: the numbers of each epoch as a row of a file."""

from __future__ import annotations

import csv
import os
from typing import Any

from agog_core.files import file_path, open_file
from agog_training.callbacks.callback import Callback, Logs

__all__ = ["CSVLogger"]


class CSVLogger(Callback):
    """Writes the losses and metrics of each epoch as a row of a CSV file.

    Args:
        filename: the file.
        separator: what stands between numbers.
        append: whether to go on with the file if there is one.
    """

    only_writes = True

    def __init__(self, filename: str | os.PathLike[str], separator: str = ",", append: bool = False) -> None:
        self.filename, self.separator, self.append = file_path("CSVLogger", filename), separator, append
        self._file: Any = None
        self._writer: Any = None

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._file = open_file(self.filename, "a" if self.append else "w", newline="")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        row = {"epoch": epoch} | dict(logs or {})
        if self._writer is None:
            self._writer = csv.DictWriter(
                self._file, list(row), restval="NA", extrasaction="ignore", delimiter=self.separator
            )
            if not self._file.tell():
                self._writer.writeheader()
        self._writer.writerow(row)
        self._file.flush()

    def on_train_end(self, logs: Logs | None = None) -> None:
        self._file.close()
        self._writer = None
