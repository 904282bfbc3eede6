"""Tensor: an immutable value on a device."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from agog_core.dtypes import DType
from agog_core.recording import identify, lined, note_break
from agog_core.shapes import Shape, TensorShape
from agog_core.tracers import present_tracer, tracing

if TYPE_CHECKING:
    from agog_core.dispatch.devices.table import KernelTable

__all__ = ["Tensor", "TensorLike"]

TensorLike = Any
"""A `Tensor`, a `Variable`, a number, a NumPy array, or a nested list of those."""


class Tensor:
    """A value of known shape and dtype that lives on a device and never changes.

    Tensors are made by ops such as `agog_core.constant`, not by calling this class. ``==`` compares identity, as in
    TensorFlow 1.x; use `agog_core.equal` to compare values.

    >>> import agog_core as ag
    >>> x = ag.constant([[1.0, 2.0]])
    >>> print(x * 2)
    tf.Tensor([[2. 4.]], shape=(1, 2), dtype=float32)
    >>> x.shape, x.dtype
    (TensorShape([1, 2]), tf.float32)
    """

    # _array: the backend's array. _table: the kernels of its device and dtype. _shape: a tuple of int. _watch: the
    # serial numbers of the tapes that watch it. _id: set when a tape or a reader first needs it.
    # _origin: set on slices of variables only: a weak reference to the variable, and the key. __dict__: what programs
    # note on a tensor, which Python makes when they do.
    __slots__ = ("__dict__", "__weakref__", "_array", "_id", "_origin", "_shape", "_table", "_watch")

    _array: Any
    _id: int
    _origin: tuple[Any, Any]
    _shape: Shape
    _table: KernelTable
    _watch: frozenset[int] | None

    # NumPy hands `array + tensor` over to the tensor.
    __array_priority__ = 100

    def __init__(self, *values: Any, **options: Any) -> None:
        raise TypeError(
            "A Tensor is made by an op, such as tf.constant or tf.convert_to_tensor; Tensor itself makes none."
        )

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._table.dtype

    @property
    def shape(self) -> TensorShape:
        """The sizes along the axes."""
        return TensorShape(self._shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._shape)

    @property
    def device(self) -> str:
        """The full name of the device that holds the value."""
        return self._table.device.name

    @property
    def op(self) -> NoReturn:
        """The op that makes the tensor in a graph; here it raises."""
        raise _meaningless("op")

    @property
    def graph(self) -> NoReturn:
        """The graph that the tensor is in; here it raises."""
        raise _meaningless("graph")

    @property
    def name(self) -> NoReturn:
        """The tensor's name in a graph; here it raises."""
        raise _meaningless("name")

    @property
    def value_index(self) -> NoReturn:
        """Which output of its op the tensor is in a graph; here it raises."""
        raise _meaningless("value_index")

    def consumers(self) -> NoReturn:
        """Raise: what ops take the tensor is known in graphs only.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("Tensor.consumers is meaningless when eager execution is enabled.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        """Raise: the value is there already, and `numpy` returns it.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "Tensor.eval is not supported when eager execution is enabled; tensor.numpy() is the value."
        )

    def get_shape(self) -> TensorShape:
        """The sizes along the axes.

        Returns:
            The same as `shape`.
        """
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Check the shape; a tensor that has a value has its shape already.

        Args:
            shape: a `TensorShape`, or what its constructor takes.

        Raises:
            ValueError: the tensor's shape is another.
        """
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}")

    def numpy(self) -> Any:
        """The value on the host.

        Returns:
            A read-only `numpy.ndarray`, or a NumPy scalar (a bytes object for strings) when the rank is 0.
        """
        if self._shape:
            return self.__array__()
        if lined and self._watch is not None:
            note_break("numpy", (self,))
        return self._table.device.to_host(self._array)[()]

    def _host(self) -> np.ndarray[Any, Any]:
        if lined and self._watch is not None:
            note_break("numpy", (self,))
        host: np.ndarray[Any, Any] = self._table.device.to_host(self._array).view()
        host.flags.writeable = False
        return host

    def _item(self, to: str) -> Any:
        if self._shape and math.prod(self._shape) != 1:
            raise TypeError(
                f"Only a tensor with one element can be converted to {to}; this one has shape {self._shape}."
            )
        if lined and self._watch is not None:
            note_break("numpy", (self,))
        host = self._table.device.to_host(self._array)
        return host.reshape(())[()] if self._shape else host[()]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if lined and self._watch is not None:
            note_break("numpy", (self,))
        host: np.ndarray[Any, Any] = self._table.device.to_host(self._array)
        if dtype is not None and np.dtype(dtype) != host.dtype:
            if copy is False:
                raise ValueError(
                    f"A tensor of dtype {self.dtype.name} needs a copy to become an array of dtype {np.dtype(dtype)}."
                )
            return host.astype(dtype)
        array: np.ndarray[Any, Any] = host.copy() if copy else handed_out(host)
        return array

    def __bool__(self) -> bool:
        if not self._table.dtype.is_bool:
            raise ValueError(
                f"Non-boolean tensor of dtype {self.dtype.name} and shape {self._shape} cannot be converted to "
                "boolean; "
                "compare it first, such as x > 0 or tf.not_equal(x, 0)."
            )
        if self._shape and math.prod(self._shape) != 1:
            raise ValueError(
                f"Non-scalar tensor of shape {self._shape} cannot be converted to boolean; use tf.reduce_all or "
                "tf.reduce_any first."
            )
        if tracing and (tracer := present_tracer()) is not None and (truth := tracer.truth(self)) is not None:
            return truth
        return bool(self._item("bool"))

    def __int__(self) -> int:
        return int(self._item("int"))

    def __float__(self) -> float:
        return float(self._item("float"))

    def __complex__(self) -> complex:
        return complex(self._item("complex"))

    def __index__(self) -> int:
        dtype = self._table.dtype
        if not dtype.is_integer and not dtype.is_bool:  # bools are integers to Python and to protocol buffers
            raise TypeError(
                f"Only a tensor of integers can be used as an index; this one has dtype {dtype.name}. Cast it "
                "with tf.cast."
            )
        if tracing and self._shape == () and (tracer := present_tracer()) is not None:
            return int(tracer.fixed(self))  # a size, an axis, a position: other calls are compared with it
        return int(self._item("an index"))

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("A scalar tensor has no len().")
        return self._shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return iter([self[row] for row in range(self._shape[0])])

    def __format__(self, spec: str) -> str:
        if spec and self._shape:
            raise TypeError(f"The format {spec!r} is for one number; this tensor has shape {self._shape}.")
        return format(self.numpy(), spec)

    def __str__(self) -> str:
        return f"tf.Tensor({self._text(str)}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        return (
            f"<tf.Tensor: id={identify(self)}, shape={self.shape}, dtype={self.dtype.name}, numpy={self._text(repr)}>"
        )

    def _text(self, convert: Any) -> str:
        if tracing and self._table.traces and (tracer := present_tracer()) is not None:
            return tracer.known(self)._text(convert)
        if self._shape:
            text: str = convert(self._host())
            return "\n" + text if "\n" in text else text
        value = self.numpy()
        return repr(value) if isinstance(value, bytes) else str(value)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    @property
    def T(self) -> Tensor:
        """The transpose of a matrix."""
        if len(self._shape) != 2:
            raise ValueError(f"Tensor.T is for matrices; got shape {self._shape}. Use x.mT or tf.transpose(x, perm).")
        return self.mT

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        # By name, because the namespace stands on tensors.
        namespace: ModuleType = import_module("agog_core.array_api.inspection").namespace(api_version)
        return namespace

    if TYPE_CHECKING:  # attached by agog_core.tensors.methods

        def cpu(self) -> Tensor: ...
        def gpu(self, gpu_index: int = 0) -> Tensor: ...
        def to_device(self, device: str, /, *, stream: None = None) -> Tensor: ...
        def __dlpack__(self, **options: Any) -> Any: ...
        def __dlpack_device__(self) -> tuple[int, int]: ...

    if TYPE_CHECKING:  # attached by agog_core.ops.operators
        mT: Tensor
        assign: Any  # these three by agog_core.ops.updates.slices
        assign_add: Any
        assign_sub: Any

        def __getitem__(self, key: Any) -> Tensor: ...
        def __add__(self, other: TensorLike) -> Tensor: ...
        def __sub__(self, other: TensorLike) -> Tensor: ...
        def __mul__(self, other: TensorLike) -> Tensor: ...
        def __truediv__(self, other: TensorLike) -> Tensor: ...
        def __floordiv__(self, other: TensorLike) -> Tensor: ...
        def __mod__(self, other: TensorLike) -> Tensor: ...
        def __pow__(self, other: TensorLike) -> Tensor: ...
        def __matmul__(self, other: TensorLike) -> Tensor: ...
        def __radd__(self, other: TensorLike) -> Tensor: ...
        def __rsub__(self, other: TensorLike) -> Tensor: ...
        def __rmul__(self, other: TensorLike) -> Tensor: ...
        def __rtruediv__(self, other: TensorLike) -> Tensor: ...
        def __rfloordiv__(self, other: TensorLike) -> Tensor: ...
        def __rmod__(self, other: TensorLike) -> Tensor: ...
        def __rpow__(self, other: TensorLike) -> Tensor: ...
        def __rmatmul__(self, other: TensorLike) -> Tensor: ...
        def __lshift__(self, other: TensorLike) -> Tensor: ...
        def __rshift__(self, other: TensorLike) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __and__(self, other: TensorLike) -> Tensor: ...
        def __or__(self, other: TensorLike) -> Tensor: ...
        def __xor__(self, other: TensorLike) -> Tensor: ...
        def __lt__(self, other: TensorLike) -> Tensor: ...
        def __le__(self, other: TensorLike) -> Tensor: ...
        def __gt__(self, other: TensorLike) -> Tensor: ...
        def __ge__(self, other: TensorLike) -> Tensor: ...


def _meaningless(attribute: str) -> AttributeError:
    return AttributeError(f"Tensor.{attribute} is meaningless when eager execution is enabled.")


def handed_out(host: Any) -> Any:
    """The array that a program gets for one on the host: read-only for good, which `ndarray.setflags` cannot undo.

    Not every library obeys the mark, so what tensors share is copied. Objects are too: their arrays have no buffer.
    """
    if is_shared(host) or host.dtype.hasobject:
        host = host.copy()
        host.flags.writeable = False
        return host
    try:
        return np.asarray(memoryview(host).toreadonly())
    except ValueError:  # the dtypes of ml_dtypes have no buffer either, but their bits have
        bits: Any = host.view(f"u{host.itemsize}")
        return np.asarray(memoryview(bits).toreadonly()).view(host.dtype)


def shared(array: Any) -> Any:
    """Mark an array on the host: tensors share it that have nothing to do with one another, so nobody else gets it."""
    for part in (array, getattr(array, "base", None)):
        if type(part) is np.ndarray:
            part.flags.writeable = False
    return array


def is_shared(array: Any) -> bool:
    """Whether an array, or the one whose memory it shows, is marked by `shared`; what is mapped from a file is not."""
    if type(array) is not np.ndarray or array.flags.writeable:
        return False
    owner = array if array.base is None else array.base
    return type(owner) is np.ndarray and owner.flags.owndata and not owner.flags.writeable


def wrap(array: Any, table: KernelTable, shape: Shape) -> Tensor:
    """Make a tensor of an array of the table's array type that nobody will write."""
    tensor = object.__new__(Tensor)
    tensor._array = array
    tensor._table = table
    tensor._shape = shape
    tensor._watch = None
    return tensor
