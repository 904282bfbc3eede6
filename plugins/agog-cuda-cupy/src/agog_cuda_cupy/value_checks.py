"""Value checks: checks of values, such as the range of indices, without a wait for the GPU.

The numbers that tell are copied to pinned host memory behind the kernel that needs them. They are looked at when they
are there: when the next ones are on their way, or when somebody waits anyway. The words of our own kernels lie together
on the GPU, and are read only when somebody waits or many are in use.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from itertools import count
from threading import Lock, Thread, current_thread, local
from typing import Any, NamedTuple

import numpy as np

from agog_core.plugin import InvalidArgumentError
from agog_cuda_cupy.streams import on

Check = Callable[..., None]


class _Waiting(NamedTuple):
    """Numbers on their way to the host, the event behind them, and who looks at them; and which came first."""

    numbers: list[np.ndarray[Any, Any]]
    arrived: Any
    check: Check
    turn: int


# For each GPU what was not looked at yet, in the order of the program.
_waiting: defaultdict[int, deque[_Waiting]] = defaultdict(deque)
# For each GPU the first that was found wrong and not told yet, and when it came.
_wrong: dict[int, tuple[int, str]] = {}
# Held while anything here changes.
_lock = Lock()
# Which of the checks came first; each takes the next number.
_turns = count()


def defer(values: tuple[Any, ...], check: Check) -> None:
    """Have arrays looked at later; called in a kernel, so that GPU and compute stream are set."""
    import cupy
    import cupyx

    compute = cupy.cuda.Stream.null
    numbers = [cupyx.empty_pinned(value.shape, value.dtype) for value in values]
    for value, number in zip(values, numbers, strict=True):
        # Not by `get`, which CuPy counts as a wait also where it does not block.
        value.data.copy_to_host_async(number.ctypes.data, number.nbytes, compute)
    waiting, index = _Waiting(numbers, compute.record(), check, next(_turns)), values[0].device.id
    with _lock:
        _look(index)
        _waiting[index].append(waiting)


def pending_error(index: int) -> str | None:
    """The first thing that was found wrong since somebody asked last; it waits for all that is under way.

    What a fault of an earlier kernel makes CUDA raise comes from here too, right behind that kernel where agog asks
    after each op.
    """
    with on(index) as compute:
        compute.synchronize()
        with _lock:  # what other threads have deferred since is on its way still, and copies write to its memory
            _look(index)
            error_words(index).read()
            _, text = _wrong.pop(index, (0, None))
    return text


def synchronize(index: int) -> None:
    """Wait for all work of a GPU, on each of its streams, and look at what was deferred."""
    import cupy

    cupy.cuda.Device(index).synchronize()
    with on(index), _lock:
        _look(index)
        error_words(index).read()


def _look(index: int) -> None:
    """Look at the numbers that are there. After something is wrong, later numbers may be wrong because of it."""
    waiting = _waiting[index]
    while waiting and waiting[0].arrived.done:
        numbers, _, check, turn = waiting.popleft()
        _call(index, turn, check, *[number[()] for number in numbers])


def _call(index: int, turn: int, check: Check, *numbers: Any) -> None:
    try:
        check(*numbers)
    except InvalidArgumentError as error:
        _wrong[index] = min(_wrong.get(index, (turn, str(error))), (turn, str(error)))


class ErrorWords:
    """The words of a GPU that kernels lower where they meet a wrong value."""

    def __init__(self, index: int) -> None:
        self._index = index
        self._own = local()
        self._pieces: list[_Piece] = []

    def take(self) -> Any:
        """A word for a kernel that this thread launches next, in which all bits are set."""
        piece: _Piece | None = getattr(self._own, "piece", None)
        if piece is None:
            self._own.piece = piece = _Piece()
            with _lock:
                self._pieces.append(piece)
        if len(piece.checks) == MOST_WORDS:
            self._send(piece)
        piece.checks.append(None)
        return piece.words[len(piece.checks) - 1]

    def watch(self, check: Check) -> None:
        """Have the word that this thread has taken last looked at later, behind its kernel."""
        self._own.piece.checks[-1] = next(_turns), check

    def _send(self, piece: _Piece) -> None:
        """Have all words of a piece looked at when they are on the host, and use them again."""
        checks, piece.checks = piece.checks, []
        defer((piece.array,), lambda numbers: self._check(checks, numbers))
        piece.set_all_bits()

    def read(self) -> None:
        """Look at all words, with the lock held and the GPU idle; another thread may be about to launch with one."""
        for piece in [*self._pieces]:
            is_alive, checks = piece.thread.is_alive(), piece.checks  # which its thread may exchange meanwhile
            if checks:
                numbers = piece.array.get()
                self._check(checks, numbers)
                if piece.thread is current_thread():
                    piece.checks = []
                    if not (numbers == ALL_BITS).all():
                        piece.set_all_bits()
            if not is_alive:
                self._pieces.remove(piece)

    def _check(self, checks: list[tuple[int, Check] | None], numbers: Any) -> None:
        for place in np.flatnonzero(numbers[: len(checks)] != ALL_BITS):
            if (known := checks[place]) is not None:
                checks[place] = None  # it is told once
                _call(self._index, known[0], known[1], numbers[place])


class _Piece:
    """The words of one thread, and who looks at those that are in use.

    They are the thread's own: when it takes another one, it has launched what writes to those before.
    """

    def __init__(self) -> None:
        import cupy

        self.thread: Thread = current_thread()
        self.array = cupy.full(MOST_WORDS, ALL_BITS, "uint64")
        self.words = [self.array[place] for place in range(MOST_WORDS)]
        self.checks: list[tuple[int, Check] | None] = []

    def set_all_bits(self) -> None:
        """Make all words such that nothing is wrong, behind what was launched."""
        import cupy

        self.array.data.memset_async(0xFF, self.array.nbytes, cupy.cuda.Stream.null)


MOST_WORDS = 64
ALL_BITS = (1 << 64) - 1
# The words of each GPU; two threads that ask first at once get the same ones.
_error_words: dict[int, ErrorWords] = {}


def error_words(index: int) -> ErrorWords:
    """The words of a GPU."""
    return _error_words.get(index) or _error_words.setdefault(index, ErrorWords(index))
