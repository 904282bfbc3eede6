"""Full names: the names that programs had for the variables in an object graph, ``trackable_object_graph.proto``."""

from __future__ import annotations

from collections import Counter

from agog_checkpoint.tensorflow.protobuf import Message


def full_names(graph: bytes) -> dict[str, str]:
    """The keys of variables by their names; of several of a name none. Raises ValueError if the bytes are no graph."""
    nodes = map(Message, Message(graph).contents(1))
    attributes = [Message(content) for node in nodes for content in node.contents(2)]
    counts = Counter(attribute.text(2) for attribute in attributes)
    return {attribute.text(2): attribute.text(3) for attribute in attributes if counts[attribute.text(2)] == 1}
