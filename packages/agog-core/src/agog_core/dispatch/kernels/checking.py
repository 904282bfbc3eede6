"""Checking: under ``AGOG_CHECK=1`` each kernel call is held against the rules of its op, and what it may write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.failure import given, named
from agog_core.dispatch.op import Op
from agog_core.dtypes import DType, as_dtype, variant
from agog_core.errors import InternalError
from agog_core.shapes import TensorShape

if TYPE_CHECKING:
    from agog_core.dispatch.kernels.candidates import Candidate

Function = Callable[..., Any]


def checked(op: Op, table: KernelTable, candidate: Candidate, kernel: Function) -> Function:
    """The kernel to put into a table while kernel calls are checked.

    Args:
        op: the op.
        table: the table.
        candidate: where the kernel comes from.
        kernel: the kernel.

    Returns:
        A function that runs it, waits for it, and raises `InternalError` where the kernel breaks a rule.
    """

    def run(*arrays: Any, **attributes: Any) -> Any:
        call = _Call(op, table, arrays, attributes)
        result = kernel(*arrays, **attributes)
        table.device.synchronize()  # which tells of wrong values too, with this call in the traceback
        if wrong := call.wrong(result):
            raise InternalError(
                f"{op.name}: the kernel {named(op, table, candidate, kernel)} {wrong} It was called with "
                f"{given(arrays)}. This is a bug of the plugin that brings it."
            )
        return result

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # whose name errors give
    return run


class _Call:
    """What a kernel is given, with copies of the arrays made before."""

    def __init__(self, op: Op, table: KernelTable, arrays: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
        self.op, self.table, self.arrays = op, table, arrays
        self.attributes = dict(attributes)
        self.before = [self._bytes(array) for array in arrays]

    def wrong(self, result: Any) -> str | None:
        """Which rule a kernel has broken, as the end of a sentence; None where it has broken none."""
        written = 0 if result is NotImplemented else len(self.op.updates)  # a kernel that declines has written nothing
        for position in range(written, len(self.arrays)):
            if self._bytes(self.arrays[position]) != self.before[position]:
                return f"changed its input {self._name(position)!r}, which is not its to write."
        if result is NotImplemented or (result is None and self.op.updates):
            return None
        shapes, dtypes = self._expected()
        results = result if isinstance(result, tuple) else (result,)
        if len(results) != len(shapes):
            return f"returned {len(results)} arrays; {len(shapes)} are expected."
        for array, shape, dtype in zip(results, shapes, dtypes, strict=True):
            if wrong := self._wrong_array(array, shape, dtype):
                return wrong
            if dtype is not variant and (wrong := self._aliased(array, written)):
                return wrong
        return None

    def _aliased(self, array: Any, written: int) -> str | None:
        """What is said of a result in the memory of an input that the op does not update; nothing of a view's."""
        if self.op.views or type(array) is not self.table.array_type:
            return None
        for position in range(written, len(self.arrays)):
            if self._share_memory(array, self.arrays[position]):
                return f"returned memory of its input {self._name(position)!r}, and the op makes no views."
        return None

    def _share_memory(self, first: Any, second: Any) -> bool:
        backend = self.table.device.backend
        if backend.host_memory:
            return np.may_share_memory(backend.to_host(first), backend.to_host(second))
        return backend.base is not None and backend.base(first) is backend.base(second)

    def _wrong_array(self, array: Any, shape: Any, dtype: DType) -> str | None:
        if type(array) is not self.table.array_type:
            try:
                array = self.table.as_array(array)
            except TypeError:
                return f"returned {type(array).__name__}; a kernel returns {self.table.array_type.__name__}."
        if dtype is not variant and as_dtype(array.dtype) is not dtype:
            return f"returned dtype {as_dtype(array.dtype).name}; the op's rule gives {dtype.name}."
        if not TensorShape(shape).is_compatible_with(tuple(array.shape)):
            return f"returned shape {tuple(array.shape)}; the op's rule gives {shape}."
        return None

    def _expected(self) -> tuple[list[Any], list[DType]]:
        """The shapes and dtypes of the outputs; those of the updated arrays where the op updates some."""
        if count := len(self.op.updates):
            updated = self.arrays[:count]
            return [tuple(array.shape) for array in updated], [as_dtype(array.dtype) for array in updated]
        attributes = dict(self.attributes)
        if not self.arrays:  # an op without inputs: its kernel takes these two besides
            del attributes["dtype"], attributes["index"]
        shape = self.op.shape(*[tuple(array.shape) for array in self.arrays], **attributes)
        dtype = self.op.result_dtype(self.table.dtype, attributes)
        shapes = shape if isinstance(shape, list) else [shape]
        return shapes, dtype if isinstance(dtype, list) else [dtype] * len(shapes)

    def _name(self, position: int) -> str:
        return f"{self.op.inputs[0]}[{position}]" if self.op.variadic else self.op.inputs[position]

    def _bytes(self, array: Any) -> bytes:
        host = np.asarray(self.table.device.backend.to_host(array))
        return repr(host.tolist()).encode() if host.dtype == object else host.tobytes()
