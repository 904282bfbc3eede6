"""Model: the ONNX model of traces, and its file."""

from __future__ import annotations

import os
from collections.abc import Sequence

from onnx import ModelProto, helper, save_model

from agog_export.refusal import Refusal
from agog_export.sizes import Number, Size
from agog_export.traces import Traces
from agog_export.translation import Translation
from agog_export.writer import Writer, value_info

_OPSET, _IR_VERSION = 20, 10


def written(traces: Traces, inputs: Sequence[str], outputs: Sequence[str]) -> ModelProto:
    """The model of traces, with names for its inputs and outputs."""
    graph = traces.graphs[0]
    for variable in graph.finals:
        raise Refusal(
            f"the function gives the variable {variable.name} a new value, and a model's weights are constants; "
            "export what runs in inference"
        )
    op = Writer()
    translation = Translation(traces, op)
    entered = translation.enter(graph, inputs)
    takes = [value_info(x.name, x.dtype, _described(x.shape)) for x in entered]
    gives = []
    for value, result, name in zip(graph.outputs, translation.run(traces.graphs), outputs, strict=True):
        own = op.output(result, name)
        gives.append(value_info(own, value.table.dtype, _described(translation.shape(value))))
    made = op.graph("agog", takes, gives, holds_arrays=True)
    return helper.make_model(
        made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION, producer_name="agog"
    )


def save(model: ModelProto, path: str, *, is_beside: bool) -> None:
    """Write a model into a file, with its weights in a second one where they are not to be inside."""
    if not is_beside:
        save_model(model, path)
        return
    beside = f"{path}.data"
    if os.path.exists(beside):  # to which the weights would be appended
        os.remove(beside)
    copy = ModelProto()
    copy.CopyFrom(model)
    save_model(copy, path, save_as_external_data=True, location=os.path.basename(beside), size_threshold=0)


def _described(shape: Sequence[Number]) -> list[int | str | None]:
    """A shape as the model says it: unknown sizes by their names."""
    return [(n.symbol.name if n.symbol else None) if isinstance(n, Size) else n for n in shape]
