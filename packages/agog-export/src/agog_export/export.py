"""Export: `onnx` writes a model or a function as an ONNX model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from agog_core.errors import UnimplementedError
from agog_export.refusal import Refusal
from agog_export.signature import Signature, output_names, signature_of
from agog_export.traces import Traces, made_up, symbols_of

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["onnx"]


def onnx(
    model: Any,
    filepath: str | os.PathLike[str] | None = None,
    input_signature: Any = None,
    *,
    weights: str = "inside",
) -> ModelProto:
    """Write a model or a function as an ONNX model, which runs elsewhere, such as in onnxruntime.

    It is written as it runs in inference: dropout does nothing, and batch normalization takes its moving averages.
    Variables become weights under their names. Inputs have the names of their `TensorSpec`, of the functional model's
    inputs or of the function's parameters; outputs have the keys of a dict, or the names of the model's outputs.

    A None in the input signature is a size that each run may choose: the first axes of all inputs are one such size,
    the batch, each further None is one of its own.

    Args:
        model: a model, a layer, a function of tensors, or what `tf.function` made of one.
        filepath: the file; None to write none.
        input_signature: a list with a `TensorSpec`, or a structure of them, for each argument; None for what the model
            was built on, or the input signature of the `tf.function`.
        weights: ``"inside"`` for one file, which protobuf limits to 2 GB, or ``"beside"`` for a second file with the
            weights, named as the first one with ``.data`` behind it.

    Returns:
        The model, as a message of the package onnx.

    Raises:
        UnimplementedError: ONNX or agog has no counterpart for an op, or a shape depends on a None in another way than
            a line; it names the op and the line.
        ValueError: there is no input signature where one is needed, or ``weights`` is something else.
        ImportError: the package onnx is missing.

    >>> import agog_core as ag
    >>> from agog_layers import Dense
    >>> model = onnx(Dense(2, activation="relu"), None, [ag.TensorSpec([None, 3], name="x")])
    >>> [node.op_type for node in model.graph.node]
    ['MatMul', 'Add', 'Relu', 'Identity']
    """
    if weights not in ("inside", "beside"):
        raise ValueError(f'tf.export.onnx: weights must be "inside" or "beside"; got {weights!r}.')
    try:
        from agog_export.model import save, written
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "onnx":
            raise
        raise ImportError(
            "tf.export.onnx needs the package onnx: `python -m pip install 'agog-export[onnx]'`."
        ) from None
    try:
        signature = signature_of(model, input_signature)
        traces = recorded(signature)
        outputs = output_names(model, traces.result, len(traces.graphs[0].outputs))
        found = written(traces, signature.names, outputs)
    except Refusal as reason:
        raise UnimplementedError(f"tf.export.onnx: {reason}.") from None
    if filepath is not None:
        save(found, os.fspath(filepath), is_beside=weights == "beside")
    return found


def recorded(signature: Signature) -> Traces:
    """The traces; where the function does not allow that each unknown size is one of its own, those of one axis are."""
    specs = signature.specs
    ways = [False, True] if len(symbols_of(specs)) > len(symbols_of(specs, are_joined=True)) else [False]
    for are_joined in ways:  # until one is allowed
        symbols, arguments = made_up(specs, are_joined=are_joined)
        traces = Traces(symbols)
        try:
            traces.record(signature.function, arguments)
            break
        except Exception:
            if are_joined is ways[-1]:
                raise
    return traces
