"""Encoded states: the states of iterators as JSON data."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from agog_core import SparseTensor, Tensor, as_dtype, string
from agog_core.dispatch.devices.lookup import current_device
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.convert import from_host
from agog_data.elements import ComponentSpec, DatasetSpec, Element, SparseSpec, components, packer
from agog_data.factory import AnyDataset
from agog_data.in_memory import hold
from agog_data.state import State


def encode(state: State) -> dict[str, Any]:
    """Turn a state into what JSON can hold: the components of the elements take the place of buffers.

    Under the key ``"buffer"`` a state may hold a list of elements, and under ``"nested"`` a list of states.

    >>> from agog_core import constant
    >>> encode({"stage": "shuffle", "buffer": [(constant([1, 2], "uint8"), constant("a"))]})["buffer"]
    [{'dtype': 'uint8', 'shape': [2], 'base64': 'AQI='}, {'dtype': 'string', 'shape': [], 'base64': ['YQ==']}]
    """
    encoded: dict[str, Any] = {}
    for key, part in state.items():
        if key == "buffer":
            encoded[key] = [_encode_component(component) for element in part for component in components(element)]
        elif isinstance(part, list):
            encoded[key] = [encode(each) if isinstance(each, Mapping) else each for each in part]
        else:
            encoded[key] = encode(part) if isinstance(part, Mapping) else part
    return encoded


def _encode_component(component: Any) -> dict[str, Any]:
    if isinstance(component, SparseTensor):
        return encode({"buffer": [(component.indices, component.values, component.dense_shape)]})
    if not isinstance(component, AnyDataset):
        return _encode_tensor(component)
    held = component._stage.held()
    if held is None:
        raise InvalidArgumentError(
            "state_dict: an element that the iterator holds has a component that is a dataset, and only those that "
            "window() makes can be saved; let flat_map() make the dataset."
        )
    return encode({"buffer": held})


def _encode_tensor(tensor: Tensor) -> dict[str, Any]:
    host = np.asarray(tensor.numpy())
    if tensor.dtype is string:
        data: Any = [_base64(item) for item in host.reshape(-1).tolist()] if host.shape else [_base64(tensor.numpy())]
    else:
        data = _base64(host.tobytes())
    return {"dtype": tensor.dtype.name, "shape": list(tensor._shape), "base64": data}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def decode(state: State) -> dict[str, Any]:
    """Turn what `encode` made into a state again, with a list of components, on the current device, under ``"buffer"``,
    for `restore_elements`. Raises InvalidArgumentError if that does not hold encoded tensors."""
    decoded: dict[str, Any] = {}
    for key, part in state.items():
        if key == "buffer" and isinstance(part, list):
            decoded[key] = [_decode_component(each) for each in part]
        elif isinstance(part, list):
            decoded[key] = [decode(each) if isinstance(each, Mapping) else each for each in part]
        else:
            decoded[key] = decode(part) if isinstance(part, Mapping) else part
    return decoded


def _decode_component(encoded: Any) -> Any:
    if isinstance(encoded, Mapping) and encoded.keys() == {"buffer"}:
        return decode(encoded)["buffer"]
    return _decode_tensor(encoded)


def _decode_tensor(encoded: Any) -> Tensor:
    try:
        dtype, shape, data = as_dtype(encoded["dtype"]), encoded["shape"], encoded["base64"]
        if dtype is string:
            host = np.empty(len(data), object)
            host[:] = [base64.b64decode(item, validate=True) for item in data]
        else:
            host = np.frombuffer(base64.b64decode(data, validate=True), dtype.numpy_dtype)
        host = host.reshape(shape)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"load_state_dict: a buffer holds what is no encoded tensor: {error}.") from error
    return from_host(host, current_device().table(dtype))


def restore_elements(spec: Any, parts: list[Any]) -> list[Element]:
    """Make elements of the components that `decode` found under ``"buffer"``, those of all elements one after the
    other. Raises InvalidArgumentError if they are no components of elements with that spec."""
    specs, pack = components(spec), packer(spec)
    if len(parts) % len(specs):
        raise InvalidArgumentError(
            f"load_state_dict: a buffer holds {len(parts)} components; the elements have {len(specs)} each."
        )
    columns = [[_restore_component(each, part) for part in parts[k :: len(specs)]] for k, each in enumerate(specs)]
    return [pack(list(row)) for row in zip(*columns, strict=True)]


def _restore_component(spec: ComponentSpec, part: Any) -> Any:
    if isinstance(part, list) != isinstance(spec, (DatasetSpec, SparseSpec)):
        found = "a dataset" if isinstance(part, list) else "a tensor"
        raise InvalidArgumentError(f"load_state_dict: a buffer holds {found} in the place of another component.")
    if isinstance(spec, SparseSpec):
        if len(part) != 3 or any(isinstance(each, list) for each in part):
            raise InvalidArgumentError("load_state_dict: a buffer holds a SparseTensor without its three parts.")
        return SparseTensor(*part)
    if not isinstance(spec, DatasetSpec):
        return part
    return hold(restore_elements(spec.element, part), spec.element)
