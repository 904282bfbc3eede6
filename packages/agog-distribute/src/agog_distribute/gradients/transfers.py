"""Transfers: gradients that are sent, bucket by bucket, while others are still computed."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterable, Sequence
from queue import SimpleQueue
from typing import Any
from weakref import WeakSet, ref

import numpy as np

from agog_core import Tensor, Variable
from agog_core.errors import AbortedError, FailedPreconditionError
from agog_core.plugin import Backend
from agog_core.recording import tapes_of_context
from agog_core.tracers import present_recorder
from agog_distribute.faults.agreement import agree, by_rank, texts_of
from agog_distribute.faults.place import Place
from agog_distribute.gradients.buckets import Form, Layout, Pool
from agog_distribute.gradients.compression import WIDE, round_into, sum_rounded
from agog_distribute.gradients.progress import Progress
from agog_distribute.gradients.residuals import Residuals
from agog_distribute.gradients.settings import Settings
from agog_distribute.processes.groups import Group

_POOLS = 4  # of layouts, the last used, that keep their buffers


class Averager:
    """What of a group lasts from one average of gradients to the next.

    Args:
        group: the processes; all members make it at once.

    Attributes:
        dense: variables whose gradients were tensors the last time, in all processes.
        residuals: for each variable what compression has taken off its last gradient.
        present: the average that goes on in a traced function, or None.
    """

    def __init__(self, group: Group) -> None:
        self.group, self.progress, self.process = group, Progress(group), os.getpid()
        self.dense: WeakSet[Any] = WeakSet()
        self.residuals = Residuals(group)
        self.present: Averaging | None = None
        self._pools: dict[Any, Pool] = {}
        atexit.register(_end, ref(self))

    def begin(self, settings: Settings, forms: Sequence[Form], owners: Sequence[Any], place: Place) -> Averaging:
        """Begin to take gradients of these forms, where all members of the group do.

        Args:
            settings: how they become one.
            forms: of the gradients.
            owners: what they are of. Gradients of variables only are compressed.
            place: the line of the program.

        Raises:
            AbortedError: they do not, or not with gradients of the same forms, or by other settings.
            FailedPreconditionError: this process was forked from one that is connected.
        """
        if os.getpid() != self.process:
            raise FailedPreconditionError(
                "average_gradients: this process was forked from one of the run; nothing connects it with the others."
            )
        is_compressed = settings.compression is not None and all(isinstance(owner, Variable) for owner in owners)
        if settings.compression is not None and is_compressed:
            forms = [Form(settings.compression, form.shape) if form.dtype in WIDE else form for form in forms]
        self._agree(settings, forms, place)
        scale = 1 / self.group.size if settings.reduction == "mean" else 1.0
        averaging = Averaging(self.progress, self._pool(forms, settings.bucket_bytes), scale, place)
        if is_compressed:
            averaging.feed_back(self.residuals, owners)
        return averaging

    def _agree(self, settings: Settings, forms: Sequence[Form], place: Place) -> None:
        size = "" if settings.bucket_bytes is None else f", bucket_bytes={settings.bucket_bytes}"
        what = f"average_gradients of {len(forms)} gradients, {settings.reduction}{size}"
        texts = texts_of(self.group, what, "\n".join(f"{dtype} {shape}" for dtype, shape in forms), place)
        for number, found in enumerate(zip(*map(str.splitlines, texts), strict=True)):
            check_forms(self.group, number, found)

    def _pool(self, forms: Sequence[Form], bucket_bytes: int | None) -> Pool:
        key = *forms, bucket_bytes
        pool = self._pools.pop(key, None) or Pool(Layout(forms, bucket_bytes))
        self._pools = {**dict(list(self._pools.items())[1 - _POOLS :]), key: pool}
        return pool


class Averaging:
    """One average: takes gradients as they become final, and sends each bucket as soon as it is full.

    Args:
        progress: sends.
        pool: where gradients lie.
        scale: the factor of each gradient.
        place: the line of the program.
    """

    def __init__(self, progress: Progress, pool: Pool, scale: float, place: Place) -> None:
        self._progress, self._pool, self._scale, self._place = progress, pool, scale, place
        self._layout, self._buffers = pool.layout, pool.lend()
        self._left, self._next = list(self._layout.counts), 0
        self.errors: Sequence[Any] = ()
        self._keep_errors: Callable[[], None] = _nothing
        self._is_over = False
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()

    def feed_back(self, residuals: Residuals, owners: Sequence[Any]) -> None:
        """Add to gradients what is left of the last ones of their variables, and keep what is left of these."""
        self.errors = errors = [residuals.take(owner) for owner in owners]

        def keep() -> None:
            for owner, error in zip(owners, errors, strict=True):
                if error is not None:
                    residuals.keep(owner, error)

        self._keep_errors = keep

    def take(self, position: int, gradient: Any) -> None:
        """Take one gradient, a host array or None for zeros; each is taken once."""
        dtype, shape = self._layout.forms[position]
        start, stop = self._layout.spans[position]
        target = self._buffers[dtype][start:stop].reshape(shape)
        error = self.errors[position] if self.errors else None
        if error is not None:
            scaled = 0.0 if gradient is None else gradient * error.dtype.type(self._scale)
            round_into(target, scaled, error.reshape(shape))
        elif gradient is None:
            target[...] = 0
        elif self._scale == 1.0:
            target[...] = gradient
        else:
            np.multiply(gradient, target.dtype.type(self._scale), out=target)
        for number in self._layout.buckets_of[position]:
            self._left[number] -= 1
        # In one order in all processes, whatever order they compute in.
        while self._next < len(self._left) and not self._left[self._next]:
            self._start(self._sender(self._next), awaited=self._next == len(self._left) - 1)
            self._next += 1

    def finish(self, text: str = "") -> list[str]:
        """Wait for all buckets, and for the texts of all processes; equal ones are not sent.

        Raises:
            AbortedError: another process does something else.
        """
        assert self._next == len(self._left)
        group, texts = self._progress.group, [text]
        what = f"average_gradients of {len(self._layout.forms)} gradients, at their end"
        if text:
            self._start(lambda: texts.extend(texts_of(group, what, text, self._place)), awaited=True)
        count = len(self._left) + bool(text)
        errors = [error for _ in range(count) if (error := self._done.get()) is not None]
        self._is_over = True
        if errors:
            raise errors[0]
        self._keep_errors()
        return texts[1:]

    def averages(self) -> list[Any]:
        """What is there then; it lies in the buffers, but for what was compressed."""
        parts = zip(self._layout.forms, self._layout.spans, strict=True)
        found = [self._buffers[dtype][start:stop].reshape(shape) for (dtype, shape), (start, stop) in parts]
        for position, error in enumerate(self.errors):
            if error is not None:
                found[position] = found[position].astype(error.dtype)
        return found

    def give_up(self) -> None:
        """Let the others, which wait for the rest, know that it does not come."""
        if not self._is_over:
            self._is_over = True
            group = self._progress.group
            self._progress.start(lambda: agree(group, "average_gradients, given up", place=self._place), SimpleQueue())

    def _start(self, send: Callable[[], None], awaited: bool) -> None:
        def job() -> None:
            if self._is_over:
                return
            try:
                send()
            except BaseException:
                self._is_over = True  # nobody would answer what follows
                raise

        self._progress.start(job, self._done, awaited)

    def _add_errors(self, number: int, begin: int, left: Any) -> None:
        """Add what is left of a share of a bucket's sum to what is left of this process's gradients."""
        for position in self._layout.members[number]:
            start, stop = self._layout.spans[position]
            first, last = max(start, begin), min(stop, begin + left.size)
            if first < last:
                self.errors[position][first - start : last - start] += left[first - begin : last - begin]

    def _sender(self, number: int) -> Callable[[], None]:
        dtype, start, stop = self._layout.buckets[number]
        part, group = self._buffers[dtype][start:stop], self._progress.group
        what = f"average_gradients, bucket {number + 1} of {len(self._left)}"

        def send() -> None:
            agree(group, what, part, self._place)
            if self.errors and dtype == "bfloat16":
                begin, left = sum_rounded(group.communicator, part)
                self._add_errors(number, start + begin, left)
            else:
                group.communicator.sum_in_place(part)

        return send


def _nothing() -> None:
    """What is kept of gradients that are not compressed."""


def _end(averager: ref[Averager]) -> None:
    """Let the others know at the end of this process that a traced function has not come to the end of an average."""
    found = averager()
    if found is not None and found.present is not None and found.process == os.getpid():
        found.present.give_up()


def averager_of(group: Group) -> Averager:
    """The averager of a group; all members ask for it at once."""
    if group.averaging is None:
        group.averaging = Averager(group)
    found: Averager = group.averaging
    return found


def has_buckets(tensors: Iterable[Tensor]) -> bool:
    """Whether no tape or trace sees what is done with tensors in the host's memory."""
    is_seen = present_recorder() is not None or any(tape.is_open for tape in tapes_of_context())
    return not is_seen and all(map(is_on_host, tensors))


def is_on_host(tensor: Tensor) -> bool:
    """Whether a tensor's array, or that which a traced one stands for, is the host's."""
    backend: Backend = tensor._table.device.untraced.backend
    return backend.host_memory


def check_forms(group: Group, number: int, forms: Iterable[str]) -> None:
    """Refuse a gradient that has not the same dtype and shape in all processes; those without any say nothing."""
    told = tuple(forms)
    if len(set(told) - {""}) > 1:
        raise AbortedError(
            f"average_gradients: gradient {number} is not of one form in all processes:\n{by_rank(group, told)}"
        )
