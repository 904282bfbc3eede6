"""Writers of summaries, and the default writer."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self
from weakref import WeakValueDictionary

from agog_core.files import absolute, check_name, file_path, is_url
from agog_core.settings import Same, Setting
from agog_summary.event_file import EventFile, Sink
from agog_summary.recording import default_step

# The default writer of this thread or task.
_default: Setting[Sink | None] = Setting("agog_summary_writer", None, key=Same)
default_event_file = _default.get

# What names of a database may be.
_NAME = r"[^\x00-\x1f<>]{0,256}"
_USER = r"([A-Za-z]([-A-Za-z0-9]{0,29}[A-Za-z0-9])?)?"

# The files that are in use, by their writers' names.
_files: WeakValueDictionary[str, EventFile] = WeakValueDictionary()


class SummaryWriter:
    """Writes summaries to a file or a database; `create_file_writer` and `create_db_writer` make one.

    Args:
        file: the file or database; None for a writer that does nothing.
    """

    def __init__(self, file: Sink | None) -> None:
        self._resource = file

    def init(self) -> None:
        """Begin another file in the same folder, if the writer is closed; else do nothing, because it is ready."""
        if self._resource is not None:
            self._resource.reopen()

    def set_as_default(self, step: Any = None) -> None:
        """Write the summaries from here on with this writer.

        Args:
            step: the step of what ``tf.summary`` writes, where that is told none.
        """
        _default.set(self._resource)
        if step is not None:
            default_step.set(step)

    @contextmanager
    def as_default(self, step: Any = None) -> Iterator[Self]:
        """Write the summaries inside with this writer, and flush it in the end.

        Args:
            step: the default step of ``tf.summary`` inside the scope.

        Returns:
            A context manager, which gives the writer. One that does nothing leaves the default writer as it is.
        """
        token = default_step.set(default_step.get() if step is None else step)
        try:
            with self.use():
                yield self
        finally:
            default_step.reset(token)
            self.flush()

    @contextmanager
    def use(self) -> Iterator[Self]:
        """Write the summaries inside with this writer, without a flush in the end.

        Returns:
            A context manager, which gives the writer. One that does nothing leaves the default writer as it is.
        """
        if self._resource is None:
            yield self
            return
        token = _default.set(self._resource)
        try:
            yield self
        finally:
            _default.reset(token)

    def flush(self) -> None:
        """Bring everything that was written to disk."""
        if self._resource is not None:
            self._resource.flush()

    def close(self) -> None:
        """Flush the writer and close its file; summaries written after that are an error, until `init`."""
        if self._resource is not None:
            self._resource.close()


def create_file_writer(
    logdir: str | os.PathLike[str] | None,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    purge_step: Any = None,
) -> SummaryWriter:
    """A writer to a new file in a folder, ``events.out.tfevents.<seconds>.<host><suffix>``. At a URL a file that has
    grown to 1 MiB is followed by another one; TensorBoard reads them as one.

    Args:
        logdir: the folder, made where it does not exist; None for a writer that does nothing.
        max_queue: how many events wait in memory at most; 10 by default, 1,000 at a URL.
        flush_millis: how many milliseconds events wait in memory, until another is written; two minutes by default.
        filename_suffix: what the file's name ends with; ``".v2"`` by default.
        name: writers of one name share a file while one of them is in use; named after the folder by default.
        purge_step: the first step that a resumed training writes again, as a number, a tensor or a variable.
            TensorBoard forgets what a run before has written to the folder of this step and later ones. None if nothing
            is to be forgotten.

    Returns:
        The writer.

    Raises:
        InvalidArgumentError: the folder's name or the suffix holds a NUL character.
        OpError: the file cannot be made: `PermissionDeniedError`, `ResourceExhaustedError` if the disk is full,
            and so on. Writing summaries raises the same; what was not written stays for the next flush.

    >>> with create_file_writer(None).as_default():
    ...     flush()
    """
    if logdir is None:
        return SummaryWriter(None)
    folder = absolute(file_path("create_file_writer", logdir))
    check_name("create_file_writer", filename_suffix or "")
    name = f"logdir:{folder}" if name is None else name
    file = _files.get(name)
    if file is None or file.closed:
        file = EventFile(
            folder,
            _most_waiting(folder) if max_queue is None else max_queue,
            120_000 if flush_millis is None else flush_millis,
            ".v2" if filename_suffix is None else filename_suffix,
        )
        _files[name] = file
    if purge_step is not None:
        from tensorboardX.proto.event_pb2 import SessionLog

        # TensorBoard takes the first one of a run for its beginning, and only those after it for another start.
        for _ in range(2):
            file.write(int(purge_step), session_log=SessionLog(status=SessionLog.START))
        file.flush()
    return SummaryWriter(file)


def _most_waiting(folder: str) -> int:
    return 1000 if is_url(folder) else 10  # each flush to a URL is a request


def create_summary_file_writer(*args: Any, **kwargs: Any) -> SummaryWriter:
    """`create_file_writer` under its older name.

    Args:
        *args: as there.
        **kwargs: as there.

    Returns:
        The writer.
    """
    return create_file_writer(*args, **kwargs)


def create_db_writer(
    db_uri: str,
    experiment_name: str | None = None,
    run_name: str | None = None,
    user_name: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer to a SQLite database with the tables of TensorBoard 1; today's TensorBoard reads event files alone.

    Args:
        db_uri: the database: a path, or a URI that begins with ``file:``. It is made where it does not exist.
        experiment_name: what the run belongs to; the date by default.
        run_name: the run, whose tags are told from those of others; the time by default.
        user_name: whose experiment it is; the user of the system by default.

    Returns:
        The writer. Each summary is on disk when it is written.

    Raises:
        ValueError: a name has control characters, ``<`` or ``>``, or is too long; or a user's is not made of letters,
            digits and dashes between them.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "runs.sqlite")
    >>> with create_db_writer(path, "experiment", "run", "user").as_default():
    ...     flush()
    """
    import getpass  # here, because few programs need SQLite

    from agog_summary.database import Database

    names = {
        "experiment_name": time.strftime("%Y-%m-%d") if experiment_name is None else experiment_name,
        "run_name": time.strftime("%H:%M:%S") if run_name is None else run_name,
        "user_name": getpass.getuser() if user_name is None else user_name,
    }
    for argument, given in names.items():
        pattern = _USER if argument == "user_name" else _NAME
        if not re.fullmatch(pattern, given):
            raise ValueError(f"create_db_writer: {argument} must match {pattern}; got {given!r}.")
    return SummaryWriter(Database(db_uri, *names.values()))


def eval_dir(model_dir: str | os.PathLike[str], name: str | None = None) -> str:
    """The folder for summaries of an evaluation, inside that of the training.

    Args:
        model_dir: the folder of the training.
        name: what tells it from other evaluations; None if there is one only.

    Returns:
        The folder.

    >>> eval_dir("logs"), eval_dir("logs", "test")
    ('logs/eval', 'logs/eval_test')
    """
    return os.path.join(model_dir, "eval" if not name else f"eval_{name}")


def flush(writer: SummaryWriter | Sink | None = None, name: str | None = None) -> None:
    """Bring everything that a writer was given to disk.

    Args:
        writer: the writer, or its file; None for the default one, if there is one.
    """
    given = _default.get() if writer is None else writer
    file = given._resource if isinstance(given, SummaryWriter) else given
    if file is not None:
        file.flush()


def initialize(graph: Any = None, session: Any = None) -> None:
    """Do nothing: writers are ready when they are made."""


def all_summary_ops() -> list[Any]:
    """The summary ops that a session would have to run: none, since summaries are written at once.

    Returns:
        An empty list.
    """
    return []
