"""Process serving: what a worker process does on request, and the messages between it and the consumer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from time import perf_counter
from typing import NamedTuple

from agog_core import device as device_scope
from agog_core import list_devices
from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.lookup import get_device
from agog_core.errors import InvalidArgumentError
from agog_data.elements import Element, stack_elements, unstack_elements
from agog_data.functions import ElementFunction
from agog_data.processes import Failure
from agog_data.random_stream import ElementGenerator
from agog_data.shared_memory import Memory, Stored, load, store
from agog_data.sources import Reader, Source
from agog_data.stage import Scope


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


def message_of(elements: list[Element], memory: Memory) -> Message:
    """Write elements into a memory, as one where they can be joined."""
    joined = len(elements) > 1
    try:
        written = [stack_elements(elements, 0)] if joined else elements
    except InvalidArgumentError:
        written, joined = elements, False
    return Message(store(written, memory), joined)


def elements_of(message: Message, memory: Memory, device: Device) -> list[Element]:
    elements = load(message.stored, memory, device)
    return unstack_elements(elements[0]) if message.joined else elements


def server(
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
            elements = elements_of(request.inputs, inputs[request.slot], device)
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
            message = message_of(computed, memory)
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
