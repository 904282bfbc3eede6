"""Samples: the kit's samples of an op, each as an ONNX model that onnxruntime runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import onnxruntime as ort

import agog_core as ag
from agog_core import nest
from agog_core.dispatch.op import all_ops
from agog_core.errors import UnimplementedError
from agog_export.model import written
from agog_export.refusal import Refusal
from agog_export.traces import Traces
from agog_testing.opinfo import table
from agog_testing.opinfo.info import OpInfo, Sample

ort.set_default_logger_severity(4)

DTYPES = ("float32", "int32", "int64", "bool")
_MOST = 16  # samples of a dtype
_RTOL, _ATOL = 1e-5, 1e-5


class Outcome(NamedTuple):
    """What has become of a sample: its dtype and name, and what is wrong, or None."""

    dtype: str
    name: str
    problem: str | None


def is_exported(name: str) -> bool:
    """Whether models may hold an op: no gradient, update, random numbers or strings."""
    op = all_ops()[name]
    is_of_training = op.updates or name.startswith("apply_") or name.endswith("_grad") or name == "dropout"
    return name in table and not (is_of_training or op.random or op.host or name == "max_pool_grad_grad")


def outcomes(name: str) -> Iterator[Outcome]:
    """What becomes of each sample of an op, but for those of constants alone, and of dtypes that NumPy has not."""
    info = table[name]
    for dtype in DTYPES:
        if dtype in info.dtypes:
            for sample in list(info.samples(dtype, np.random.default_rng(0)))[:_MOST]:
                found = _outcome(name, info, sample)
                if found != "left out":
                    yield Outcome(dtype, sample.name, found)


def _outcome(name: str, info: OpInfo, sample: Sample) -> str | None:
    arrays: list[np.ndarray[Any, Any]] = []
    build = _leaves([list(sample.args), dict(sample.kwargs)], arrays)

    def function(*tensors: Any) -> Any:
        args, kwargs = build(iter(tensors))
        return info.call(*args, **kwargs)

    tensors = [ag.constant(array) for array in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = [np.asarray(w.numpy()) for w in nest.flatten(function(*tensors)) if w is not None]
        traces = Traces([])
        traces.record(function, [tensors])
    graph = traces.graphs[0]
    if name not in [node.op.name for node in graph.nodes if node.op] or any(w.dtype.kind not in "biuf" for w in want):
        return "left out"
    try:
        model = written(traces, [f"x{n}" for n in range(len(tensors))], [f"y{n}" for n in range(len(graph.outputs))])
    except (UnimplementedError, Refusal) as reason:
        return f"refused: {str(reason).rpartition(': ')[2]}"
    try:
        session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        given = {x.name: arrays[int(x.name[1:])] for x in session.get_inputs()}
        got = session.run(None, given)
    except Exception as error:
        return f"onnxruntime: {' '.join(str(error).split())[-160:]}"
    return next((text for g, w in zip(got, want, strict=True) if (text := _difference(g, w))), None)


def _difference(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> str | None:
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} of shape {got.shape} for {want.dtype} of shape {want.shape}"
    is_float = want.dtype.kind in "fc"
    if np.allclose(got, want, _RTOL if is_float else 0, _ATOL if is_float else 0, equal_nan=is_float):
        return None
    return f"{np.ravel(got)[:4]} for {np.ravel(want)[:4]}"


def _leaves(structure: Any, found: list[np.ndarray[Any, Any]]) -> Callable[[Iterator[Any]], Any]:
    """How to build a structure with other leaves in the place of its arrays, which are found."""
    if isinstance(structure, np.ndarray):
        found.append(structure)
        return next
    if isinstance(structure, (list, tuple)):
        parts = [_leaves(part, found) for part in structure]
        make = structure._make if hasattr(structure, "_make") else type(structure)
        return lambda leaves: make([part(leaves) for part in parts])
    if isinstance(structure, dict):
        named = {key: _leaves(part, found) for key, part in structure.items()}
        return lambda leaves: {key: part(leaves) for key, part in named.items()}
    return lambda leaves: structure
