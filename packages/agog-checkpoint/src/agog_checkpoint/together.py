"""Together: one checkpoint of several processes. Each writes its shards, and rank 0 commits.

All of them take the same steps, and tell each other after each how it went. Whatever goes wrong on one, all raise it,
and what was saved before stays as it was.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np

from agog_checkpoint import file, shards
from agog_checkpoint.commit import new_id
from agog_checkpoint.drift import check_replicas
from agog_checkpoint.graph import DTYPES
from agog_checkpoint.layout import size_of
from agog_checkpoint.objects import Snapshot
from agog_checkpoint.shards import Division, writer_of
from agog_core import convert_to_tensor, device, errors
from agog_core.errors import FailedPreconditionError, OpError, UnknownError
from agog_core.files import absolute, is_url
from agog_core.processes import Processes, connected

Then = Callable[[], None] | None


def all_processes(what: str) -> Processes | None:
    """The processes that are about to save together, after they have agreed that they are; None for a single one."""
    processes = connected()
    if processes is not None:
        processes.agree(what)
    return processes


def save(
    processes: Processes | None,
    path: str,
    saved: Snapshot,
    max_shard_bytes: int | None = None,
    then: Then = None,
    follow: Then = None,
) -> None:
    """Save a snapshot as `file.save` does, of one process or of several that are here by `all_processes`.

    ``then`` is called on rank 0; the others call ``follow`` when all is on the disk.
    """
    if processes is None:
        _check_whole(saved)
        file.save(path, saved, max_shard_bytes, then)
    else:
        _Save(processes, absolute(path), saved, max_shard_bytes).run(then, follow)


def save_file(processes: Processes | None, path: str, saved: Snapshot) -> None:
    """Save a snapshot into one file of any name, as `save` does; rank 0 writes it."""
    if processes is None:
        _check_whole(saved)
        file.save_file(path, saved)
    else:
        _Save(processes, absolute(path), saved, None, in_one_file=True).run(None, None)


def _check_whole(saved: Snapshot) -> None:
    for key, share in saved.shares.items():
        if not share.is_whole:
            raise ValueError(
                f"Checkpoint: variable {key!r} is a share of an array of shape {share.shape}, whose other shares "
                "are in other processes; let all of them save together."
            )


class _Save:
    """A save of several processes, as one of them sees it."""

    def __init__(
        self,
        processes: Processes,
        path: str,
        saved: Snapshot,
        max_shard_bytes: int | None,
        in_one_file: bool = False,
    ) -> None:
        self._processes, self._path, self._in_one_file = processes, path, in_one_file
        self._save_id = self._agree_on_path()
        check_replicas(processes, path, saved)
        self._limit = max_shard_bytes
        variables = saved.graph.variables()
        if saved.shares and max_shard_bytes is None and not in_one_file:  # as much for each
            self._limit = max(1, math.ceil(sum(map(size_of, variables)) / processes.size))
        self._shards = [] if self._limit is None else shards.groups(variables, self._limit)
        self._saved = self._gathered(saved)
        self._is_told = False  # whether all have heard of what has gone wrong

    def run(self, then: Then, follow: Then) -> None:
        """Write, commit, and tell."""
        try:
            if self._in_one_file:
                if self._processes.rank == 0:
                    file.save_file(self._path, self._saved)
            elif self._processes.rank == 0:
                division = self._division(self._meet, self._meet)
                file.save(self._path, self._saved, self._limit, then, division)
            elif len(self._shards) > 1:
                self._write_own()
        except Exception as error:
            if not self._is_told:
                self._meet(error=error)
            raise
        self._meet()
        if self._processes.rank and follow is not None:
            follow()

    def _write_own(self) -> None:
        """Write the shards of this process, between the begin of rank 0's commit and its end."""
        path, division = self._path.removesuffix(file.SUFFIX), self._division(_pass, _pass)
        self._meet()
        checksums: dict[str, str] | None = None
        try:
            checksums = shards.write_own(path, self._saved, self._shards, division)
            self._meet(checksums)
        except BaseException:
            # At a URL they have their last names already: unless rank 0 has heard of a failure, it may commit them.
            if not is_url(path) or checksums is None or self._is_told:
                shards.discard_own(path, len(self._shards), division)
            raise

    def _division(self, begin: Callable[[], None], wait: Callable[[], None]) -> Division:
        return Division(self._save_id, self._processes.rank, self._processes.size, begin, wait)

    def _agree_on_path(self) -> str:
        """The id that rank 0 gives the save, once all save to one path."""
        told = [json.loads(each) for each in self._processes.exchange(json.dumps([self._path, new_id()]).encode())]
        if len({path for path, _ in told}) > 1:
            lines = "\n".join(f"  rank {rank}: {path!r}" for rank, (path, _) in enumerate(told))
            raise FailedPreconditionError(
                "Checkpoint: all processes write one checkpoint together, so they have to save to one path; nothing "
                f"was saved.\n{lines}"
            )
        return str(told[0][1])

    def _meet(self, checksums: dict[str, str] | None = None, error: Exception | None = None) -> None:
        """Hear of the others how they have come here. Raises what one of them has raised."""
        failure = None if error is None else (type(error).__name__, str(error))
        message = json.dumps({"checksums": checksums or {}, "failure": failure})
        found = [json.loads(each) for each in self._processes.exchange(message.encode())]
        failures = [(rank, *each["failure"]) for rank, each in enumerate(found) if each["failure"]]
        if failures and error is None:
            self._is_told = True
            raise _told(*failures[0])
        for variable in self._saved.graph.variables():
            for each in found:
                variable.checksum = each["checksums"].get(variable.key, variable.checksum)

    def _gathered(self, saved: Snapshot) -> Snapshot:
        """The snapshot with whole values instead of shares, of what this process writes."""
        writers = {
            variable.key: writer_of(number, self._processes.size) if len(self._shards) > 1 else 0
            for number, variables in enumerate(self._shards)
            for variable in variables
        }
        dtypes = {variable.key: DTYPES[variable.dtype].numpy_dtype for variable in saved.graph.variables()}
        values = dict(saved.values)
        for key, share in sorted(saved.shares.items()):
            content = np.ascontiguousarray(values.pop(key).numpy()).tobytes()
            pieces = self._processes.exchange(share.begin.to_bytes(8, "little") + content)
            content = _joined(key, pieces, dtypes[key].itemsize, share.shape)
            if writers.get(key, 0) == self._processes.rank:
                with device("cpu"):
                    values[key] = convert_to_tensor(np.frombuffer(content, dtypes[key]).reshape(share.shape))
        return saved._replace(values=values)


def _joined(key: str, pieces: list[bytes], itemsize: int, shape: tuple[int, ...]) -> bytes:
    """The bytes of an array out of its shares, each behind the number of its first element."""
    found = {int.from_bytes(piece[:8], "little"): piece[8:] for piece in pieces if len(piece) > 8}
    begins, total = sorted(found), math.prod(shape)
    ends = [begin + len(found[begin]) // itemsize for begin in begins]
    if [*begins, total] != [0, *ends]:
        raise FailedPreconditionError(
            f"Checkpoint: the processes' shares of variable {key!r} are not those of one array of shape {shape}; "
            "nothing was saved."
        )
    return b"".join(found[begin] for begin in begins)


def _told(rank: int, kind: str, text: str) -> Exception:
    """What another process has raised."""
    known = getattr(errors, kind, {"ValueError": ValueError}.get(kind, UnknownError))
    return known(f"On rank {rank}: {text}") if issubclass(known, (OpError, ValueError)) else UnknownError(text)


def _pass() -> None:
    """Rank 0 alone waits within its commit."""
