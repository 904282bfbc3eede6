"""Variable: mutable, shared, named state."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from agog_core.checkpointable import listeners
from agog_core.dispatch.devices.lookup import current_device, scopes
from agog_core.dtypes import DType
from agog_core.errors import InvalidArgumentError
from agog_core.random import drawn
from agog_core.recording import active, variable_read
from agog_core.settable import has_changed, note
from agog_core.shapes import Shape, TensorShape
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.operand import operand
from agog_core.tensors.placement import bring, copy_to_device
from agog_core.tensors.tensor import Tensor, TensorLike, wrap
from agog_core.tracers import present_tracer, seen, tracing
from agog_core.variables.memory import Memory, updating
from agog_core.variables.name_scope import current_name_scope

__all__ = ["Variable"]

# The next serial number of a variable, which orders them by construction.
_next_serial = itertools.count().__next__
# What is told of each new variable, in this thread or task.
creation_hooks: ContextVar[tuple[Callable[[Variable], None], ...]] = ContextVar("agog_creation_hooks", default=())


class Variable(Memory):
    """A value that programs change in place, such as a parameter of a model.

    Reading a variable gives an immutable tensor, regardless of later assignments: an assignment writes into the
    variable's memory only while nobody else holds it.

    Args:
        initial_value: the first value, or a function without arguments that returns it. It is copied.
        trainable: whether tapes watch the variable without being asked.
        name: the variable's name, which follows that of the `name_scope`; names need not be unique.
        dtype: the dtype to convert the value to.
        constraint: a function that optimizers apply to the value after each update.

    Raises:
        ValueError: the initial value is None, or the constraint is no function.
        NotImplementedError: there is a caching device.

    >>> v = Variable([1.0, 2.0], name="v")
    >>> v.assign_add([1.0, 1.0])
    <tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([2., 3.], dtype=float32)>
    """

    __array_priority__ = 100

    def __init__(
        self,
        initial_value: TensorLike | Callable[[], TensorLike],
        trainable: bool = True,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Callable[[Tensor], Tensor] | None = None,
        use_resource: bool | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
    ) -> None:
        if initial_value is None:
            raise ValueError("Variable: initial_value must be specified; got None.")
        if constraint is not None and not callable(constraint):
            raise ValueError(f"Variable: the constraint must be a function of the value; got {constraint!r}.")
        self._trainable = trainable
        self._constraint = constraint
        self._name = current_name_scope() + (name or "Variable")
        self._serial = _next_serial()
        value = drawn(initial_value) if callable(initial_value) else initial_value
        tensor = convert_to_tensor(value, dtype)
        if tracing and (tracer := present_tracer()) is not None:
            tensor = tracer.known(tensor)
        if scopes:
            tensor = bring(tensor, current_device())
        self._put(wrap(tensor._table.device.copy(tensor._array), tensor._table, tensor._shape))
        for hook in creation_hooks.get():
            hook(self)
        if listeners:
            self._hold_back()

    @property
    def name(self) -> str:
        """The name, with TensorFlow's ``:0``."""
        return f"{self._name}:0"

    @property
    def trainable(self) -> bool:
        """Whether tapes watch the variable without being asked."""
        if tracing:
            note(self, "_trainable")
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        has_changed(self, "_trainable")

    @property
    def constraint(self) -> Callable[[Tensor], Tensor] | None:
        """A function that optimizers apply to the value after each update, or None."""
        if tracing:
            note(self, "_constraint")
        return self._constraint

    @constraint.setter
    def constraint(self, value: Callable[[Tensor], Tensor] | None) -> None:
        self._constraint = value
        has_changed(self, "_constraint")

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._current().dtype

    @property
    def shape(self) -> TensorShape:
        """The sizes along the axes."""
        return self._current().shape

    @property
    def device(self) -> str:
        """The full name of the device that holds the value."""
        return self._current().device

    @property
    def initializer(self) -> None:
        """None: a variable has its value from its construction on, so nothing is left to be run or evaluated."""
        return None

    def get_shape(self) -> TensorShape:
        """The sizes along the axes.

        Returns:
            The same as `shape`.
        """
        return self.shape

    def value(self) -> Tensor:
        """The present value; tapes see that the variable is read.

        Returns:
            A tensor that later assignments do not change.
        """
        try:
            tensor = self._tensor
        except AttributeError:
            tensor = self._await()
        if tracing:
            tensor = seen(self, tensor)
        if active:
            variable_read(self, tensor)
        return tensor

    def read_value(self) -> Tensor:
        """The present value; tapes see that the variable is read.

        Returns:
            The same as `value`.
        """
        return self.value()

    def initialized_value(self) -> Tensor:
        """The present value: a variable has one from its construction on.

        Returns:
            The same as `value`.
        """
        return self.value()

    def numpy(self) -> Any:
        """The present value on the host.

        Returns:
            A read-only `numpy.ndarray` that later assignments do not change, or a NumPy scalar.
        """
        return self._current().numpy()

    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Variable:
        """Replace the value.

        Args:
            value: a value of the variable's shape and dtype; numbers and arrays are converted.
            read_value: whether the variable is returned.

        Returns:
            The variable; None if ``read_value`` is false.

        Raises:
            ValueError: the shape is another.
            InvalidArgumentError: the value is a tensor of another dtype.
        """
        tensor = self._operand("assign", value)
        if tracing and (tracer := present_tracer()) is not None:
            tracer.assign(self, tensor)
            return self if read_value else None  # type: ignore[return-value]  # few ask for nothing, and want no answer
        fresh = wrap(tensor._table.device.copy(tensor._array), tensor._table, tensor._shape)
        with updating:
            self._put(fresh)
        return self if read_value else None  # type: ignore[return-value]  # as above

    def set_shape(self, shape: Any) -> None:
        """Check the shape.

        Args:
            shape: a `TensorShape`, or what its constructor takes.

        Raises:
            ValueError: the variable's shape is another.
        """
        self._current().set_shape(shape)

    def _operand(self, method: str, value: TensorLike) -> Tensor:
        tensor, shape = self._converted(method, value), self._current()._shape
        if tensor._shape != shape:
            raise ValueError(
                f"{method}: Shapes {TensorShape(shape)} and {TensorShape(tensor._shape)} are incompatible: variable "
                f"{self.name!r} has the first, the value the second. The shapes must be equal"
                f"{_broadcasting(method, tensor._shape, shape)}."
            )
        return tensor

    def _converted(self, method: str, value: TensorLike) -> Tensor:
        """A value as a tensor of the variable's dtype, on its device."""
        table = self._current()._table
        if isinstance(value, Tensor) or hasattr(type(value), "__tensor__"):
            tensor = convert_to_tensor(value)
            if tensor.dtype is not table.dtype:
                raise InvalidArgumentError(
                    f"{method}: variable {self.name!r} has dtype {table.dtype.name} and the value has dtype "
                    f"{tensor.dtype.name}; cast it with tf.cast(value, tf.{table.dtype.name})."
                )
            return copy_to_device(tensor, table.device) if tensor._table is not table else tensor
        return operand(method, value, table, "value", f"variable {self.name!r}")

    def _current(self) -> Tensor:
        """The present value, read behind the tapes' backs."""
        try:
            tensor = self._tensor
        except AttributeError:
            tensor = self._await()
        return seen(self, tensor) if tracing else tensor

    def __tensor__(self) -> Tensor:
        return self.value()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._current().__array__(dtype, copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self._current().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._current().__dlpack_device__()

    def __bool__(self) -> bool:
        return bool(self._current())

    def __int__(self) -> int:
        return int(self._current())

    def __float__(self) -> float:
        return float(self._current())

    def __index__(self) -> int:
        return self._current().__index__()

    def __len__(self) -> int:
        return len(self._current())

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.value())

    def __format__(self, spec: str) -> str:
        return format(self._current(), spec) if spec else str(self)

    def __repr__(self) -> str:
        value = self._current()
        return f"<tf.Variable {self.name!r} shape={value.shape} dtype={value.dtype.name}, numpy={value._text(repr)}>"

    def _repr_html_(self) -> str:
        from agog_core.tensors.display import tensor_html  # here, because only notebooks need it

        value, trained = self._current(), "" if self.trainable else ", not trainable"
        title = f"tf.Variable {self.name!r}: shape={value.shape}, dtype={value.dtype.name}, device={value.device}"
        return tensor_html(title + trained, value._host(), value.dtype)

    if TYPE_CHECKING:  # attached by agog_core.ops.operators and agog_core.ops.updates.methods

        def __getitem__(self, key: Any) -> Tensor: ...
        def __setitem__(self, key: Any, value: TensorLike) -> None: ...
        def assign_add(
            self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
        ) -> Variable: ...
        def assign_sub(
            self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
        ) -> Variable: ...
        def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor: ...
        def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Variable: ...
        def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Variable: ...
        def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Variable: ...
        def scatter_nd_add(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Variable: ...
        def scatter_nd_sub(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Variable: ...
        def scatter_nd_update(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Variable: ...
        def count_up_to(self, limit: int) -> Tensor: ...

    def __iadd__(self, other: TensorLike) -> Variable:
        return self.assign_add(other)

    def __isub__(self, other: TensorLike) -> Variable:
        return self.assign_sub(other)


def _broadcasting(method: str, given: Shape, wanted: Shape) -> str:
    """The remedy for a value that could be broadcast to the variable's shape; assignments never broadcast."""
    if len(given) > len(wanted) or any(
        size not in (1, whole) for size, whole in zip(reversed(given), reversed(wanted), strict=False)
    ):
        return ""
    value = {"assign_add": "v + value", "assign_sub": "v - value"}.get(method, "tf.broadcast_to(value, v.shape)")
    return f", since assignments do not broadcast: write v.assign({value})"
