"""Process mapping: `map` with ``processes=True``, the stage that calls a function in worker processes."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Any, NamedTuple

from agog_data.elements import Element, stack_elements
from agog_data.encoded_state import decode, encode
from agog_data.forks import Forks
from agog_data.functions import ElementFunction
from agog_data.processes import Failure, Workers
from agog_data.random_stream import Stream
from agog_data.rows import Rows
from agog_data.shared_memory import Memory
from agog_data.sources import Reader, Source
from agog_data.stage import ElementIterator, Scope, Stage
from agog_data.stages.batching import Batch
from agog_data.stages.mapping import CountingIterator, Map
from agog_data.stages.process_serving import Request, elements_of, message_of, server
from agog_data.stages.slicing import RowIterator
from agog_data.state import State
from agog_data.tuning import Tuning

_AHEAD = 2  # how many blocks a process has, so that it need not wait for the next
_LARGEST_BLOCK = 64
# A block grows until it takes so long, or its results so many bytes, that the cost of a message does not count.
_ENOUGH_SECONDS = 0.005
_ENOUGH_BYTES = 1 << 18


class ProcessMap(Map):
    """The results of a function of each element, in worker processes.

    Where the input is a choice of rows, the processes get row numbers and take the rows from the source themselves.
    With a `Tuning` the consumer calls the function itself where that is faster.
    """

    def __init__(
        self,
        stage: Stage,
        function: ElementFunction,
        num_parallel_calls: int | None,
        stream: Stream,
        tuning: Tuning | None = None,
    ) -> None:
        super().__init__(stage, function, num_parallel_calls, stream)
        self._processes = num_parallel_calls or 1
        self._tuning = tuning  # no element depends on it

    def iterate(self, scope: Scope) -> ElementIterator:
        elements, source = self._input(scope)
        return ProcessMapIterator(elements, source, self._function, self._stream, self._processes, scope, self._tuning)

    def batched(self, size: int, drop_remainder: bool) -> Stage:
        return ProcessBatch(self, size, drop_remainder)

    def iterate_batches(self, scope: Scope, size: int, drop_remainder: bool) -> ElementIterator:
        """Make an iterator, not started yet, that gives batches."""
        elements, source = self._input(scope)
        return ProcessBatchIterator(
            elements, source, self._function, self._stream, self._processes, scope, self._tuning, size, drop_remainder
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
        return self._map.iterate_batches(scope, self.size, self.drop_remainder)


class NumberIterator(RowIterator):
    """The numbers of the rows instead of the rows."""

    def __init__(self, source: Source, rows: Rows, scope: Scope) -> None:
        super().__init__(source, rows, scope)
        self._make = _unchanged


def _unchanged(numbers: list[int]) -> list[Element]:
    return numbers


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
        tuning: Tuning | None,
    ) -> None:
        self._source = source
        self._processes = processes
        self._scope = scope
        self._tuning = tuning
        self._reader = Reader(source, scope.device) if source else None
        self._flights: deque[Flight] = deque()
        self._workers: Workers | None = None
        self._size = 1
        self._last = 0  # how many results the last block had
        super().__init__(elements, function, stream)

    def _begin(self, epoch: int) -> None:
        if self._flights:
            self._stop()
        self._over = False  # whether the input has ended
        if self._tuning:
            self._tuning.rest()
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
        serve = server(self._function, self._source, self._inputs, self._results, self._scope, self.batch_size)
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
        is_own = self._is_own_turn()
        try:
            if is_own and not self._flights:
                return self._own_block()
            workers = self._workers or self._start()
            while not (is_own or self._over) and len(self._flights) < _AHEAD * self._processes:
                self._send(workers)
            if not self._flights:
                return Block(0, [], {})
            block = self._receive(workers, self._flights[0])
            self._flights.popleft()
            self._last = block.length
            return block
        except BaseException:  # an interrupt, or a process that has ended: the next call begins here again
            self._stop()
            self._over = False
            self._number = number
            self._input.load_state_dict(decode(encode(state)))
            raise

    def _is_own_turn(self) -> bool:
        """Whether the consumer calls the function for the next block."""
        tuning = self._tuning
        if tuning is None or self._over:
            return False
        return not tuning.wants_workers() or not tuning.turn_of_workers(self._last)

    def _own_block(self) -> Block:
        """The next block, computed here: one result, or as many as are joined."""
        assert self._tuning is not None
        first = self._number
        inputs, failure = self._take(self.batch_size or 1)
        elements = self._reader.rows(inputs) if self._reader and inputs else inputs
        results: list[Element] = []
        failures = {len(inputs): failure} if failure else {}
        for place, element in enumerate(elements):
            number = first + place
            try:
                results.append(self._tuning.call(self._function, element, number, self._word, self._generator))
            except Exception as error:
                failures[place] = Failure(error)
        if results and self.batch_size and not failures:
            results = [stack_elements(results, first // self.batch_size)]
        self._last = len(inputs)
        return Block(len(inputs) + (failure is not None), results, failures)

    def _take(self, size: int) -> tuple[list[Any], Failure | None]:
        """Elements of the input, so many where it has them, and what it raised after these."""
        inputs: list[Any] = []
        failure: Failure | None = None
        try:
            for element in islice(self._input, size):
                inputs.append(element)
            self._over = len(inputs) < size
        except Exception as raised:  # it comes after the elements before it
            failure = Failure(raised)
        self._number += len(inputs)
        return inputs, failure

    def _send(self, workers: Workers) -> None:
        before, first, slot = self._input.state_dict(), self._number, self._sent % len(self._inputs)
        inputs, failure = self._take(self.batch_size or self._size)
        if inputs:
            sent: Any = inputs if self._source else message_of(inputs, self._inputs[slot])
            workers[slot].send(Request(first, self._word, slot, sent))
            self._sent += 1
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
                results = elements_of(answer.results, self._results[flight.slot], self._scope.device)
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
        tuning: Tuning | None,
        size: int,
        drop_remainder: bool,
    ) -> None:
        self.batch_size = size
        self._drop_remainder = drop_remainder
        super().__init__(elements, source, function, stream, processes, scope, tuning)

    def __next__(self) -> Element:
        block = self.next_block()
        if block.failures:
            raise block.failures[min(block.failures)].error()
        if not block.length or (self._drop_remainder and block.length < (self.batch_size or 0)):
            raise StopIteration
        return block.results[0]
