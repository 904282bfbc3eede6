"""Graphs of tapes, traced functions and models, and ready-made events, in event files."""

from __future__ import annotations

from typing import Any

from agog_core import TensorShape, convert_to_tensor
from agog_core.errors import DataLossError, InvalidArgumentError
from agog_core.observers.graph_node import GraphNode, HasGraph
from agog_core.variables.global_step import get_or_create_global_step
from agog_summary.tensors import data_type
from agog_summary.writer import default_event_file


def graph(param: Any, step: Any = None, name: str | None = None) -> None:
    """Write a graph for TensorBoard's page of graphs, where a writer is the default; no policy is asked.

    Of a tape it shows the recorded ops, of a traced function the ops of its last trace and the lines that called them,
    of a model its layers, with the variables; shapes, dtypes and devices if they are known. A model with a ``call``
    of its own does not say which layer feeds which: show the tape of a call.

    Args:
        param: a `GradientTape`, a function that `tf.function` has traced or a graph of it, a model, a ``GraphDef``
            message, or such a message as bytes or a tensor.
        step: the step; None for the global step, which is made if there is none.

    Raises:
        InvalidArgumentError: there is nothing to show, or ``param`` is something else.

    >>> import agog_core as ag
    >>> x = ag.constant(3.0)
    >>> with ag.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> graph(tape, step=0)
    """
    file = default_event_file()
    if file is not None:
        at = int(get_or_create_global_step() if step is None else step)
        file.write(at, graph_def=_serialized(param))


def import_event(tensor: Any, name: str | None = None) -> None:
    """Write an event that was made elsewhere, where a writer is the default; no policy is asked.

    Args:
        tensor: a serialized ``Event`` message, as bytes or a tensor of shape ``()``.

    Raises:
        DataLossError: it is no such message.

    >>> import_event(b"")
    """
    file = default_event_file()
    if file is None:
        return
    from google.protobuf.message import DecodeError
    from tensorboardX.proto.event_pb2 import Event

    data = _bytes(tensor, "summary.import_event: expected a serialized Event")
    try:
        event = Event.FromString(data)
    except DecodeError as error:
        raise DataLossError(f"summary.import_event: the {len(data)} bytes are no serialized Event.") from error
    file.append(event)


def _serialized(param: Any) -> bytes:
    from tensorboardX.proto.graph_pb2 import GraphDef

    if isinstance(param, HasGraph):
        nodes = param.__graph_nodes__()
        if not nodes:
            raise InvalidArgumentError(
                f"summary.graph: the {type(param).__name__} has nothing to show. A tape that is not persistent forgets "
                "its records when gradient is called: write the graph before; a model needs layers."
            )
        message = GraphDef(node=[_node_def(node) for node in nodes], versions={"producer": 22})
        return bytes(message.SerializeToString(deterministic=True))
    if hasattr(param, "SerializeToString"):
        return bytes(param.SerializeToString())
    return _bytes(param, "summary.graph: expected a tape, a model or a GraphDef")


def _bytes(value: Any, expected: str) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        tensor = convert_to_tensor(value)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"{expected}; got {value!r} of type {type(value).__name__}.") from error
    if tensor.dtype.name != "string" or tensor.shape.rank != 0:
        raise InvalidArgumentError(f"{expected}; got a tensor of {tensor.dtype.name} of shape {tensor.shape}.")
    return bytes(tensor.numpy())


def _node_def(node: GraphNode) -> dict[str, Any]:
    from tensorboardX.proto.attr_value_pb2 import AttrValue

    attributes = {key: AttrValue(s=value.encode()) for key, value in sorted(node.attributes.items())}
    if node.shapes:
        # By this name TensorBoard finds the sizes that it writes on edges.
        attributes["_output_shapes"] = AttrValue(list={"shape": [_shape_proto(shape) for shape in node.shapes]})
    if node.dtype is not None and (kind := data_type(node.dtype)) is not None:
        attributes["dtype"] = AttrValue(type=kind)
    return {"name": node.name, "op": node.op, "input": node.inputs, "device": node.device, "attr": attributes}


def _shape_proto(shape: TensorShape) -> dict[str, Any]:
    if shape.rank is None:
        return {"unknown_rank": True}
    return {"dim": [{"size": -1 if size is None else size} for size in shape.as_list()]}
