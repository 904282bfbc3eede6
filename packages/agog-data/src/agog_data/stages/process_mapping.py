"""Process mapping: `map` with ``processes=True``, the stage that calls a function in worker processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

from agog_core import device as device_scope
from agog_core import list_devices
from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.lookup import get_device
from agog_core.errors import InvalidArgumentError
from agog_data.elements import Element, stack_elements, unstack_elements
from agog_data.encoded_state import decode, encode
from agog_data.forks import Forks
from agog_data.functions import ElementFunction
from agog_data.processes import Failure, Workers
from agog_data.random_stream import ElementGenerator, Stream
from agog_data.rows import Rows
from agog_data.shared_memory import Memory, Stored, load, store
from agog_data.sources import Reader, Source
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.stages.batching import Batch
from agog_data.stages.mapping import CountingIterator, Map
from agog_data.stages.slicing import RowIterator
from agog_data.state import State

_AHEAD = 2  # how many blocks a process has, so that it need not wait for the next
_LARGEST_BLOCK = 64
# A block grows until it takes so long, or its results so many bytes, that the cost of a message does not count.
_ENOUGH_SECONDS = 0.005
_ENOUGH_BYTES = 1 << 18


class ProcessMap(Map):
    """The results of a function of each element, in worker processes.

    Where the input is a choice of rows, the processes get row numbers and take the rows from the source themselves.
    """

    def __init__(self, stage: Stage, function: ElementFunction, num_parallel_calls: int | None, stream: Stream) -> None:
        super().__init__(stage, function, num_parallel_calls, stream)
        self._processes = num_parallel_calls or 1

    def iterate(self, scope: Scope) -> ElementIterator:
        return ProcessMapIterator(*self._input(scope), self._function, self._stream, self._processes, scope)

    def batched(self, size: int, drop_remainder: bool) -> Stage:
        return ProcessBatch(self, size, drop_remainder)

    def iterate_batches(self, scope: Scope, size: int, drop_remainder: bool) -> ElementIterator:
        """Make an iterator, not started yet, that gives batches."""
        elements, source = self._input(scope)
        return ProcessBatchIterator(
            elements, source, self._function, self._stream, self._processes, scope, size, drop_remainder
        )

    def _input(self, scope: Scope) -> tuple[ElementIterator, Source | None]:
        found = self.input.rows()
        return (NumberIterator(*found, scope), found[0]) if found else (self.input.iterate(scope), None)


class ProcessBatch(Batch):
    """Batches of a `ProcessMap`, whose results the processes join."""

    def __init__(self, stage: ProcessMap, batch_size: int, drop_remainder: bool) -> None:
        super().__init__(stage, batch_size, drop_remainder)
        self._map = stage

    def iterate(self, scope: Scope) -> ElementIterator:
        return self._map.iterate_batches(scope, self._size, self._drop_remainder)


class NumberIterator(RowIterator):
    """The numbers of the rows instead of the rows."""

    def __init__(self, source: Source, rows: Rows, scope: Scope) -> None:
        super().__init__(source, rows, scope)
        self._make = _unchanged


def _unchanged(numbers: list[int]) -> list[Element]:
    return numbers


class Message(NamedTuple):
    """Elements in shared memory."""

    stored: Stored
    joined: bool  # whether they are the rows of one element


class Request(NamedTuple):
    """A request to a process."""

    first: int  # the number of the first element
    word: int
    slot: int  # which memory is used
    inputs: list[int] | Message  # the row numbers, or the elements


class Answer(NamedTuple):
    """The result of a process."""

    results: Message | None
    failures: dict[int, Failure]  # by the places of elements that have no result
    seconds: float


class Flight(NamedTuple):
    """A request that is under way."""

    first: int
    length: int
    before: State  # the input's, before the first element was read
    slot: int
    failure: Failure | None  # what the input raised after these elements


class Block(NamedTuple):
    """The answer to a request."""

    length: int  # of results and errors
    results: list[Element]
    failures: dict[int, Failure]  # by their places; the results are for the others


class BlockIterator(CountingIterator):
    """Sends blocks of elements to processes, in turn, and gets blocks of results back in order."""

    batch_size: int | None = None  # how many results are joined; None for results one by one

    def __init__(
        self,
        elements: ElementIterator,
        source: Source | None,
        function: ElementFunction,
        stream: Stream,
        processes: int,
        scope: Scope,
    ) -> None:
        self._source = source
        self._processes = processes
        self._scope = scope
        self._flights: deque[Flight] = deque()
        self._workers: Workers | None = None
        self._size = 1
        super().__init__(elements, function, stream)

    def _begin(self, epoch: int) -> None:
        if self._flights:
            self._stop()
        self._over = False  # whether the input has ended
        super()._begin(epoch)

    def _stop(self) -> None:
        self._flights.clear()
        if self._workers:
            self._workers.close()
            self._workers = None

    def _start(self) -> Workers:
        slots = range(_AHEAD * self._processes)
        self._sent = 0
        self._inputs, self._results = [Memory() for _ in slots], [Memory() for _ in slots]
        serve = _server(self._function, self._source, self._inputs, self._results, self._scope, self.batch_size)
        self._forks = Forks.count
        self._workers = Workers([serve] * self._processes)
        return self._workers

    def _position(self) -> tuple[int, State]:
        if self._flights:
            return self._flights[0].first, self._flights[0].before
        return super()._position()

    def next_block(self) -> Block:
        """The results of the oldest request, after those that follow are sent; nothing at the end. Raises AbortedError
        if a process has ended."""
        if self._workers:
            Forks.check(self._forks)
        number, state = self._position()
        try:
            workers = self._workers or self._start()
            while not self._over and len(self._flights) < _AHEAD * self._processes:
                self._send(workers)
            if not self._flights:
                return Block(0, [], {})
            block = self._receive(workers, self._flights[0])
            self._flights.popleft()
            return block
        except BaseException:  # an interrupt, or a process that has ended: the next call begins here again
            self._stop()
            self._over = False
            self._number = number
            self._input.load_state_dict(decode(encode(state)))
            raise

    def _send(self, workers: Workers) -> None:
        size = self.batch_size or self._size
        before, first, slot = self._input.state_dict(), self._number, self._sent % len(self._inputs)
        inputs: list[Any] = []
        failure: Failure | None = None
        try:
            for element in islice(self._input, size):
                inputs.append(element)
            self._over = len(inputs) < size
        except Exception as raised:  # it comes after the elements before it
            failure = Failure(raised)
        if inputs:
            sent: Any = inputs if self._source else _message(inputs, self._inputs[slot])
            workers[slot].send(Request(first, self._word, slot, sent))
            self._sent += 1
            self._number += len(inputs)
        if inputs or failure:
            self._flights.append(Flight(first, len(inputs), before, slot, failure))

    def _receive(self, workers: Workers, flight: Flight) -> Block:
        failures = {flight.length: flight.failure} if flight.failure else {}
        results: list[Element] = []
        if flight.length:
            answer = workers[flight.slot].receive()
            if isinstance(answer, Failure):
                return Block(1, [], {0: answer})
            failures |= answer.failures
            if answer.results:
                results = _elements(answer.results, self._results[flight.slot], self._scope.device)
                if answer.seconds < _ENOUGH_SECONDS and answer.results.stored.size < _ENOUGH_BYTES:
                    self._size = min(2 * self._size, _LARGEST_BLOCK)
        return Block(flight.length + (flight.failure is not None), results, failures)


class ProcessMapIterator(BlockIterator, name="map"):
    """Gives the results one by one."""

    def _begin(self, epoch: int) -> None:
        super()._begin(epoch)
        self._block = Block(0, [], {})
        self._offset = 0  # in the block
        self._before: tuple[int, State] = self._number, {}  # where the block begins

    def __next__(self) -> Element:
        if self._offset == self._block.length:
            before = self._position()
            block = self.next_block()
            if not block.length:
                raise StopIteration
            self._before, self._block, self._offset = before, block, 0
            block.results.reverse()
        place = self._offset
        self._offset += 1
        if place in self._block.failures:
            raise self._block.failures.pop(place).error()
        return self._block.results.pop()

    def _position(self) -> tuple[int, State]:
        return super()._position() if self._offset == self._block.length else self._before

    def state_dict(self) -> dict[str, Any]:
        offset = 0 if self._offset == self._block.length else self._offset
        return {**super().state_dict(), "offset": offset}

    def load_state_dict(self, state: State) -> None:
        super().load_state_dict(state)
        for _ in islice(self._input, state["offset"]):
            self._number += 1


class ProcessBatchIterator(BlockIterator, name="map and batch"):
    """Gives the results joined. Where one of them is an error, the others of its batch are lost."""

    def __init__(
        self,
        elements: ElementIterator,
        source: Source | None,
        function: ElementFunction,
        stream: Stream,
        processes: int,
        scope: Scope,
        size: int,
        drop_remainder: bool,
    ) -> None:
        self.batch_size = size
        self._drop_remainder = drop_remainder
        super().__init__(elements, source, function, stream, processes, scope)

    def __next__(self) -> Element:
        block = self.next_block()
        if block.failures:
            raise block.failures[min(block.failures)].error()
        if not block.length or (self._drop_remainder and block.length < (self.batch_size or 0)):
            raise StopIteration
        return block.results[0]


def _message(elements: list[Element], memory: Memory) -> Message:
    """Write elements into a memory, as one where they can be joined."""
    joined = len(elements) > 1
    try:
        written = [stack_elements(elements, 0)] if joined else elements
    except InvalidArgumentError:
        written, joined = elements, False
    return Message(store(written, memory), joined)


def _elements(message: Message, memory: Memory, device: Device) -> list[Element]:
    elements = load(message.stored, memory, device)
    return unstack_elements(elements[0]) if message.joined else elements


def _server(
    function: ElementFunction,
    source: Source | None,
    inputs: Sequence[Memory],
    results: Sequence[Memory],
    scope: Scope,
    batch_size: int | None,
) -> Callable[[Request], Answer]:
    """The work of a process on a request. A process that was forked has no other devices than the host's."""
    device = _host_device(scope.device)
    reader = Reader(source, device) if source else None
    generator = ElementGenerator()

    def serve(request: Request) -> Answer:
        began = perf_counter()
        if isinstance(request.inputs, list):
            assert reader is not None
            elements = reader.rows(request.inputs)
        else:
            elements = _elements(request.inputs, inputs[request.slot], device)
        computed = []
        failures = {}
        for place, element in enumerate(elements):
            try:
                computed.append(function(element, request.first + place, request.word, generator))
            except BaseException as error:
                failures[place] = Failure(error)
                if batch_size:
                    return Answer(None, failures, 0.0)
        memory, message = results[request.slot], None
        if batch_size:
            message = Message(store([stack_elements(computed, request.first // batch_size)], memory), False)
        elif computed:
            message = _message(computed, memory)
        return Answer(message, failures, perf_counter() - began)

    def serve_in_scope(request: Request) -> Answer:
        with nullcontext() if device is scope.device else device_scope(device.name):
            return serve(request)

    context = scope.context()
    return lambda request: context.run(serve_in_scope, request)


def _host_device(device: Device) -> Device:
    if device.backend.host_memory:
        return device
    for name in list_devices():
        if get_device(name).backend.host_memory:
            return get_device(name)
    raise InvalidArgumentError(
        f"map: processes=True needs a device in host memory, because a forked process cannot use {device.name}; "
        f"the devices are {list_devices()}. Install agog-cpu-numpy."
    )
