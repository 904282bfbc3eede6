"""Object graph: the objects of a program and their parts, as ``trackable_object_graph.proto`` has them."""

from __future__ import annotations

from typing import NamedTuple

from agog_checkpoint.tensorflow.protobuf import Message


class SavedTensor(NamedTuple):
    """A tensor of an object: what it is, the variable's name, and its key in the checkpoint."""

    attribute: str
    name: str
    key: str


class SavedSlot(NamedTuple):
    """A slot of an optimizer: the number of the variable, the slot's name, and the number of its own variable."""

    variable: int
    name: str
    slot_variable: int


class SavedObject(NamedTuple):
    """An object: the numbers of its parts by name, its tensors, and, for an optimizer of the older kind, its slots."""

    children: dict[str, int]
    tensors: list[SavedTensor]
    slots: list[SavedSlot]


def parse_object_graph(data: bytes) -> list[SavedObject]:
    """Read a ``TrackableObjectGraph``, in which the first object is the root. Raises ValueError if it is none.

    >>> parse_object_graph(bytes([0x0A, 0x07, 0x0A, 0x05, 0x08, 0x00, 0x12, 0x01, 0x61]))
    [SavedObject(children={'a': 0}, tensors=[], slots=[])]
    """
    objects = [_parse_object(content) for content in Message(data).contents(1)]
    if not objects:
        raise ValueError("its object graph has no objects")
    for each in objects:
        numbers = [*each.children.values(), *(slot.variable for slot in each.slots)]
        numbers += [slot.slot_variable for slot in each.slots]
        if any(number >= len(objects) for number in numbers):
            raise ValueError(f"its object graph names an object beyond the {len(objects)} that it has")
    return objects


def _parse_object(content: bytes) -> SavedObject:
    message = Message(content)
    children = {part.text(2): part.number(1) for part in map(Message, message.contents(1))}
    tensors = [SavedTensor(part.text(1), part.text(2), part.text(3)) for part in map(Message, message.contents(2))]
    slots = [SavedSlot(part.number(1), part.text(2), part.number(3)) for part in map(Message, message.contents(3))]
    return SavedObject(children, tensors, slots)
