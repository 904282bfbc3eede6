"""Tensors and histograms as the messages of event files."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from agog_core import DType, Tensor
from agog_core.errors import InvalidArgumentError

Array = np.ndarray[Any, Any]

_TYPE_NAMES = {"float32": "DT_FLOAT", "float64": "DT_DOUBLE", "float16": "DT_HALF"}


def data_type(dtype: DType) -> str | None:
    """The name of a dtype in event files; None if they have no such dtype.

    >>> import agog_core as ag
    >>> data_type(ag.float32)
    'DT_FLOAT'
    """
    from tensorboardX.proto.types_pb2 import DataType

    name = _TYPE_NAMES.get(dtype.name, f"DT_{dtype.name.upper()}")
    return name if name in DataType.keys() else None  # noqa: SIM118  # an enum of protobuf, no dict


def tensor_proto(tensor: Tensor) -> Any:
    """The tensor as a ``TensorProto`` message. Raises InvalidArgumentError if the messages have no such dtype."""
    from tensorboardX.proto.tensor_pb2 import TensorProto

    name = tensor.dtype.name
    type_name = data_type(tensor.dtype)
    if type_name is None:
        raise InvalidArgumentError(f"summary.generic: event files have no dtype {name}; cast the tensor first.")
    proto = TensorProto(dtype=type_name, tensor_shape={"dim": [{"size": size} for size in tensor.shape.as_list()]})
    array = np.asarray(tensor.numpy())
    if name == "string":
        proto.string_val.extend(array.ravel().tolist())
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


def histogram_proto(values: Array) -> dict[str, Any]:
    """The fields of a ``HistogramProto`` message for finite numbers, float64 of any shape.

    A bucket counts the values from the limit before to below its own; of neighboring empty buckets there is only the
    last.
    """
    limits = _limits()
    buckets = np.minimum(np.searchsorted(limits, values.ravel(), side="right"), limits.size - 1)
    counts = np.bincount(buckets, minlength=limits.size)
    kept = (counts > 0) | np.append(counts[1:] > 0, True)
    with np.errstate(over="ignore"):
        sum_squares = np.square(values).sum()
    return {
        "min": values.min(initial=limits[-1]),
        "max": values.max(initial=-limits[-1]),
        "num": values.size,
        "sum": values.sum(),
        "sum_squares": sum_squares,
        "bucket_limit": limits[kept].tolist(),
        "bucket": counts[kept].tolist(),
    }


@cache
def _limits() -> Array:
    exponents = np.arange(np.ceil(np.log(1e32) / np.log(1.1)))
    positive = np.append(1e-12 * 1.1**exponents, np.finfo(np.float64).max)
    return np.concatenate([-positive[::-1], [0.0], positive])
