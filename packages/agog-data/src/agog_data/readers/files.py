"""Files of records: the base of datasets of all formats."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core import dtypes
from agog_core.errors import DataLossError, InvalidArgumentError
from agog_core.shapes import TensorShape, intern_shape
from agog_core.tensors.tensor import Tensor, wrap
from agog_data.dataset import Dataset
from agog_data.elements import ComponentSpec, Element
from agog_data.readers.streams import ByteStream, Damage
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.state import State

STRING = ComponentSpec(dtypes.string, TensorShape([]))


class RecordFile(ABC):
    """A file that is read record by record from a stream of bytes."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        self.number = 0  # of the next record
        self.begin = 0  # where the record begins that was read last

    @property
    def offset(self) -> int:
        """Where the next record begins."""
        return self.stream.offset

    @abstractmethod
    def read(self) -> Any:
        """The next record; None at the end. Raises `Damage` where it cannot be read."""

    def seek(self, offset: int, number: int) -> None:
        """Go to a record, by its offset and number, in a file that has just been opened."""
        self.number = number
        if offset:
            self.stream.seek(offset)


class Format(ABC):
    """How a dataset reads its files; ``name`` is the dataset's, for errors and states."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def open(self, path: str) -> RecordFile:
        """Open a file."""

    def spec(self) -> Any:
        """The spec of the elements: strings."""
        return STRING

    def maker(self, scope: Scope) -> Callable[[Any], Element]:
        """Make the function that makes an element of a record; here, of bytes."""
        return string_maker(scope)


def string_maker(scope: Scope) -> Callable[[bytes], Tensor]:
    """Make the function that makes a scalar tensor of bytes, on the device of the scope."""
    table, shape = scope.device.table(dtypes.string), intern_shape(())
    from_host = table.device.from_host

    def make(record: bytes) -> Tensor:
        host = np.empty((), object)
        host[()] = record
        return wrap(from_host(host), table, shape)

    return make


class Skipping:
    """Counts the damaged records that a dataset leaves out, and warns of the first one."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, problem: str) -> None:
        """Count one."""
        self.count += 1
        if self.count == 1:
            warnings.warn(f"{problem} It is skipped, and so will others be without a word.", stacklevel=2)


class Files(Stage):
    """The records of files, one file after the other, or ``turns`` files in turns, a record of each.

    ``filenames`` is a stage of paths; ``skipping`` counts damaged records that are left out, and is None to raise an
    error at them; ``expected`` is how many records there must be in all, None for any number.
    """

    def __init__(
        self,
        filenames: Stage,
        format: Format,
        turns: int = 1,
        skipping: Skipping | None = None,
        expected: int | None = None,
    ) -> None:
        self.filenames = filenames
        self.format = format
        self.turns = turns
        self.skipping = skipping
        self.expected = expected

    def spec(self) -> Any:
        return self.format.spec()

    def sample(self, scope: Scope) -> Element:
        quiet = None if self.skipping is None else _Quiet()  # what is only looked at is not counted
        return Files(self.filenames, self.format, self.turns, quiet).first(scope)

    def iterate(self, scope: Scope) -> ElementIterator:
        return FileIterator(self, scope)


class _Quiet(Skipping):
    def add(self, problem: str) -> None:
        pass


class FileIterator(ElementIterator):
    """The records of files.

    Its state says for each open file the number among the paths and the place in it; a new iterator asks for the same
    paths again.
    """

    def __init__(self, stage: Files, scope: Scope) -> None:
        self._stage = stage
        self._make = stage.format.maker(scope)
        self._filenames = stage.filenames.iterate(scope)
        self._before = self._filenames.state_dict()
        self._begin(0)

    def _begin(self, taken: int) -> None:
        self._files: list[RecordFile | None] = [None] * self._stage.turns
        self._numbers = [0] * self._stage.turns  # of the open files, from 1 on; 0 for none
        self._turn = 0
        self._taken = taken  # how many paths
        self._records = 0

    def start(self, epoch: int) -> None:
        self._filenames.start(epoch)
        self._before = self._filenames.state_dict()
        self._begin(0)

    def __next__(self) -> Element:
        while True:
            turn = self._turn
            file = self._files[turn] or self._open(turn)
            if file is None and not any(self._files):
                self._check_count()
                raise StopIteration
            record = self._read(file) if file is not None else None
            self._turn = (turn + 1) % len(self._files)
            if record is not None:
                self._records += 1
                return self._make(record)

    def _open(self, turn: int) -> RecordFile | None:
        filename = next(self._filenames, None)
        if filename is None:
            return None
        self._taken += 1
        file = self._stage.format.open(os.fsdecode(bytes(filename.numpy())))
        self._files[turn], self._numbers[turn] = file, self._taken
        return file

    def _read(self, file: RecordFile) -> Any:
        """The next record of the file of this turn; None when it has ended, and is closed."""
        while True:
            file.begin = file.offset
            try:
                record = file.read()
            except Damage as damage:
                problem = self._describe(file, damage)
                file.number += 1
                if not damage.resumes:
                    self._close()
                if self._stage.skipping is None:
                    raise damage.error(problem) from damage
                self._stage.skipping.add(problem)
                if damage.resumes:
                    continue
                return None
            if record is None:
                self._close()
            else:
                file.number += 1
            return record

    def _describe(self, file: RecordFile, damage: Damage) -> str:
        return (
            f"{self._stage.format.name}: {file.stream.path}: record {file.number} (the first is 0), at byte "
            f"{file.begin}: {damage.reason}."
        )

    def _close(self) -> None:
        file = self._files[self._turn]
        if file is not None:
            file.stream.close()
        self._files[self._turn], self._numbers[self._turn] = None, 0

    def _check_count(self) -> None:
        if self._stage.expected not in (None, self._records):
            raise DataLossError(
                f"{self._stage.format.name}: {self._stage.expected} records are expected in all; the files hold "
                f"{self._records}."
            )

    def state_dict(self) -> dict[str, Any]:
        places = zip(self._numbers, self._files, strict=True)
        files = [
            {"file": number, "offset": file.offset, "record": file.number}
            if file is not None
            else {"file": 0, "offset": 0, "record": 0}
            for number, file in places
        ]
        return {
            "stage": self._stage.format.name,
            "turn": self._turn,
            "taken": self._taken,
            "records": self._records,
            "files": files,
            "filenames": self._before,
        }

    def load_state_dict(self, state: State) -> None:
        self._filenames.load_state_dict(state["filenames"])
        self._before = state["filenames"]
        self._begin(0)
        turns = {part["file"]: turn for turn, part in enumerate(state["files"]) if part["file"]}
        if max(turns, default=0) > state["taken"]:
            raise InvalidArgumentError(
                f"load_state_dict: the state is in file {max(turns)}, but has taken {state['taken']} files."
            )
        for number in range(1, state["taken"] + 1):
            if number not in turns:
                next(self._filenames, None)
                self._taken += 1
                continue
            turn = turns[number]
            file = self._open(turn)
            if file is None:
                raise InvalidArgumentError(
                    f"load_state_dict: the state is at file {number}; there are only {self._taken}."
                )
            try:
                file.seek(state["files"][turn]["offset"], state["files"][turn]["record"])
            except Damage as damage:
                raise damage.error(self._describe(file, damage)) from damage
        self._turn, self._records = state["turn"] % len(self._files), state["records"]


def paths(dataset: str, filenames: Any) -> Stage:
    """A stage of scalar strings, of a path, a list or tensor of paths, or a dataset of paths; else a TypeError."""
    if not isinstance(filenames, Dataset):
        listed = filenames if isinstance(filenames, (list, tuple)) else [filenames]
        if not isinstance(filenames, (Tensor, np.ndarray)):
            for path in listed:
                if not isinstance(path, (str, bytes, os.PathLike, Tensor)):
                    raise TypeError(
                        f"{dataset}: filenames must be a path, a list of paths or a dataset of paths; it holds "
                        f"{path!r} of type {type(path).__name__}."
                    )
            filenames = np.array([_encoded(path) for path in listed], object)
        elif not len(filenames.shape):
            filenames = np.array([_encoded(filenames)], object)
        filenames = Dataset.from_tensor_slices(filenames)
    spec = filenames._stage.spec()
    if not isinstance(spec, ComponentSpec) or spec.dtype is not dtypes.string or spec.shape.ndims != 0:
        shown = f"{filenames.output_types} of shape {filenames.output_shapes}"
        raise TypeError(f"{dataset}: filenames must be scalar strings; the elements of the dataset are {shown}.")
    stage: Stage = filenames._stage
    return stage


def _encoded(path: Any) -> bytes:
    value = path.numpy() if isinstance(path, Tensor) else path.item() if isinstance(path, np.ndarray) else path
    return os.fsencode(value)
