"""cuDNN on NumPy: what agog asks of cuDNN's frontend, with its names, computed on the host as cuDNN defines it.

Arrays have channels second here; how they lie in memory is said by their strides, and addresses are all that comes in.
"""

from __future__ import annotations

import ctypes
from itertools import product
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

data_type = SimpleNamespace(HALF="f2", BFLOAT16=ml_dtypes.bfloat16, FLOAT="f4", DOUBLE="f8")
heur_mode = SimpleNamespace(A="A", FALLBACK="FALLBACK")
numerical_note = SimpleNamespace(
    **{name: name for name in ("NONDETERMINISTIC", "REDUCED_PRECISION_REDUCTION", "DOWN_CONVERT_INPUTS", "TENSOR_CORE")}
)
handles: list[object] = []


class cudnnGraphNotSupportedError(RuntimeError):  # the frontend's name
    """No plan is there for a graph."""


def create_handle() -> object:
    """A handle."""
    handles.append(object())
    return handles[-1]


def destroy_handle(handle: object) -> None:
    """Let go of a handle."""
    handles.remove(handle)


class Tensor:
    """An array of a graph, whose memory is given when the graph runs."""

    def __init__(self, dim: list[int] | None = None, stride: list[int] | None = None, data_type: Any = None) -> None:
        self.dim, self.stride, self.data_type, self.is_output = dim, stride, data_type, False

    def set_output(self, is_output: bool) -> Tensor:
        self.is_output = is_output
        return self

    def set_data_type(self, data_type: Any) -> Tensor:
        self.data_type = data_type
        return self

    def set_dim(self, dim: list[int]) -> Tensor:
        self.dim = dim
        return self

    def set_stride(self, stride: list[int]) -> Tensor:
        self.stride = stride
        return self

    def at(self, address: int) -> Any:
        """The memory at an address as an array."""
        assert self.dim is not None
        assert self.stride is not None
        dtype = np.dtype(self.data_type)
        size = 1 + sum((n - 1) * step for n, step in zip(self.dim, self.stride, strict=True))
        memory = (ctypes.c_byte * (size * dtype.itemsize)).from_address(address)
        steps = [step * dtype.itemsize for step in self.stride]
        return np.ndarray(self.dim, dtype, memory, strides=steps)


class pygraph:  # the frontend's name
    """A graph with one convolution, or one of its gradients."""

    refused = False  # whether no graph has a plan

    def __init__(
        self, *, io_data_type: Any, intermediate_data_type: Any, compute_data_type: Any, handle: object
    ) -> None:
        self.compute, self.handle, self.done = compute_data_type, handle, list[str]()
        self.barred: list[str] = []

    def tensor(self, *, name: str, dim: list[int], stride: list[int], data_type: Any) -> Tensor:
        return Tensor(dim, stride, data_type)

    def conv_fprop(self, *, image: Tensor, weight: Tensor, **window: list[int]) -> Tensor:
        return self._node("fprop", (image, weight), window)

    def conv_dgrad(self, *, loss: Tensor, filter: Tensor, **window: list[int]) -> Tensor:
        return self._node("dgrad", (loss, filter), window)

    def conv_wgrad(self, *, image: Tensor, loss: Tensor, **window: list[int]) -> Tensor:
        return self._node("wgrad", (image, loss), window)

    def _node(self, kind: str, operands: tuple[Tensor, Tensor], window: dict[str, list[int]]) -> Tensor:
        self.kind, self.operands, self.window, self.result = kind, operands, window, Tensor()
        return self.result

    def validate(self) -> None:
        self.done.append("validate")

    def build_operation_graph(self) -> None:
        self.done.append("build_operation_graph")

    def create_execution_plans(self, modes: list[str]) -> None:
        assert modes == ["A", "FALLBACK"]
        self.done.append("create_execution_plans")

    def deselect_numeric_notes(self, notes: list[str]) -> None:
        self.barred = notes

    def deselect_workspace_greater_than(self, workspace: int) -> None:
        assert workspace == 1 << 30

    def build_plans(self) -> None:
        assert self.done == ["validate", "build_operation_graph", "create_execution_plans"]
        if self.refused:
            raise cudnnGraphNotSupportedError("no plan")

    def get_workspace_size(self) -> int:
        return 16

    def execute(self, pointers: dict[Tensor, int], workspace: int, *, handle: object) -> None:
        """Compute each output by its definition: a sum over the filter's places and a group's channels."""
        assert handle is self.handle
        assert self.result.is_output
        assert list(pointers) == [*self.operands, self.result]
        if any(address % 16 for address in pointers.values()):
            raise RuntimeError("CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER")
        first, second, result = [tensor.at(address) for tensor, address in pointers.items()]
        image, weight, loss = {
            "fprop": (first, second, result),
            "dgrad": (result, second, first),
            "wgrad": (first, result, second),
        }[self.kind]
        total = np.zeros(result.shape, self.compute)
        outputs, inputs = weight.shape[:2]  # of one group, as to the inputs
        for y in product(*map(range, loss.shape[2:])):
            for tap in product(*map(range, weight.shape[2:])):
                x = [
                    at * stride - low + t * dilation
                    for at, t, stride, low, dilation in zip(
                        y,
                        tap,
                        self.window["stride"],
                        self.window["pre_padding"],
                        self.window["dilation"],
                        strict=True,
                    )
                ]
                if not all(0 <= at < size for at, size in zip(x, image.shape[2:], strict=True)):
                    continue
                for o in range(outputs):
                    start = o // (outputs // (image.shape[1] // inputs)) * inputs
                    channels = slice(start, start + inputs)
                    of_x, of_w, of_y = (slice(None), channels, *x), (o, slice(None), *tap), (slice(None), o, *y)
                    if self.kind == "fprop":
                        total[of_y] += (image[of_x].astype(self.compute) * weight[of_w]).sum(1)
                    elif self.kind == "dgrad":
                        total[of_x] += loss[of_y].astype(self.compute)[:, None] * weight[of_w]
                    else:
                        total[of_w] += (image[of_x].astype(self.compute) * loss[of_y][:, None]).sum(0)
        result[...] = total
