"""Precision: the dtypes of a layer, by its policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from agog_core import DType, SparseTensor, Tensor, Variable, as_dtype, cast, convert_to_tensor, nest
from agog_core.settings import Setting
from agog_layers.calls.masks import known, mask_of, pass_on
from agog_layers.layer.policy import Policy, policy_of
from agog_layers.serialization.description import describe

__all__ = ["AutoCastVariable", "Precise"]

# What variables of layers with a policy are read in, in this thread or task: the dtype of the layer that is called.
_reading: Setting[DType | None] = Setting("agog_reading_dtype", None)


class AutoCastVariable(Variable):
    """A variable that calls of a layer with a policy read in the layer's compute dtype."""

    def value(self) -> Tensor:
        """The current value, in the compute dtype of the calling layer."""
        tensor: Tensor = _cast_float(super().value(), _reading.get())
        return tensor

    @property
    def dtype(self) -> DType:
        """The dtype that the value is read in."""
        return _reading.get() or self._current().dtype

    def _converted(self, method: str, value: Any) -> Tensor:
        return super()._converted(method, _cast_float(value, self._current().dtype))


class Precise:
    """The dtypes of a layer: of its inputs, its variables, and its computation."""

    # Which dtype of a policy the layer computes in; None if inputs are left as they are.
    computes_in: ClassVar[str | None] = "compute_dtype"

    _policy: Policy | None = None
    _dtype: DType | None = None

    if TYPE_CHECKING:

        @property
        def _title(self) -> str: ...
        @property
        def variables(self) -> list[Variable]: ...
        def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any: ...
        def _check_initialized(self) -> None: ...
        def _count_calls(self) -> None: ...

        single_input: ClassVar[bool]

        def _walk(self, seen: set[int]) -> Iterator[Any]: ...

    def _set_precision(self, dtype: Any) -> None:
        policy = policy_of(dtype)
        if policy is not None:
            dtype = policy.variable_dtype
            self._policy = policy
            self._count_calls()  # calls have to come by `_call_in_precision`
        self._dtype = None if dtype is None else as_dtype(dtype)

    def _follow(self, outer: Precise) -> None:
        """Take the dtype and the policy of the layer that runs this one, if none was given."""
        if self._dtype is None:
            self._set_precision(outer._policy or outer._dtype)

    @property
    def dtype(self) -> DType | None:
        """The dtype of the variables; None before it is known."""
        return self._dtype

    @property
    def variable_dtype(self) -> DType | None:
        """The same as ``dtype``."""
        return self._dtype

    @property
    def compute_dtype(self) -> DType | None:
        """The dtype of the computations: the policy's, or that of the variables."""
        return self._dtype if self._policy is None else as_dtype(self._policy.compute_dtype)

    @property
    def dtype_policy(self) -> Policy:
        """The policy; where the layer has none, that of the variables' dtype."""
        return self._policy or Policy("float32" if self._dtype is None else self._dtype.name)

    def _without_arrays(self, arguments: Any) -> Any:
        """The arguments of a call, with arrays of floats as tensors of the layer's dtype; before it is known of that of
        a tensor among them, of a layer or variable inside, or float32.
        """
        leaves = nest.flatten(arguments)
        if not any(map(_is_array_of_floats, leaves)):
            return arguments
        dtype = next(each for each in self._dtypes_for_arrays(leaves) if each is not None and each.is_floating)
        return nest.map_structure(
            lambda leaf: cast(convert_to_tensor(leaf), dtype) if _is_array_of_floats(leaf) else leaf, arguments
        )

    def _converted(self, inputs: Any, leaves: list[Any]) -> tuple[Any, list[Any]]:
        """The inputs and their leaves as tensors; None stays None, and so does a `SparseTensor` among features."""
        self._check_initialized()
        kept = SparseTensor if isinstance(inputs, dict) else ()
        tensors = [leaf if leaf is None or isinstance(leaf, kept) else convert_to_tensor(leaf) for leaf in leaves]
        if leaves and leaves[0] is inputs:
            return tensors[0], tensors
        if self.single_input:
            raise ValueError(
                f"{self._title} takes one tensor; got a {type(inputs).__name__} of {len(inputs)}, which would be that "
                "many inputs. Make one tensor of it with tf.convert_to_tensor."
            )
        return nest.pack(inputs, tensors), tensors

    def _dtypes_for_arrays(self, leaves: list[Any]) -> Iterator[DType | None]:
        yield self._dtype
        yield from (leaf.dtype for leaf in leaves if isinstance(leaf, Tensor))
        self._check_initialized()
        yield from (part._dtype for part in self._walk(set()) if isinstance(part, Precise))
        yield from (variable.dtype for variable in self.variables)
        yield as_dtype("float32")

    def _described(self, name: str) -> Any:
        with_policy = name == "dtype" and self._policy is not None
        return describe(self._policy) if with_policy else super()._described(name)  # type: ignore[misc]  # Module has it

    def _check_floats(self, tensor: Tensor) -> None:
        if not tensor.dtype.is_differentiable:
            wanted = (self._dtype or as_dtype("float32")).name
            raise TypeError(
                f"{self._title} takes floats; got an input of dtype {tensor.dtype.name} and shape "
                f"{tensor.shape}. "
                f"Cast it with tf.cast(x, tf.{wanted})."
            )

    def _variable_class(self, dtype: DType) -> type[Variable]:
        return AutoCastVariable if self._policy is not None and dtype is self._dtype else Variable

    def _call_in_precision(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """A call of a layer with a policy: on inputs, and with variables, in the dtype it computes in."""
        if self.computes_in is None:
            return self.call(inputs, *args, **kwargs)
        inside, outside = as_dtype(getattr(self._policy, self.computes_in)), self.compute_dtype
        token = _reading.set(inside)
        try:
            outputs = self.call(
                _cast_floats(inputs, inside), *_cast_floats(args, inside), **_cast_floats(kwargs, inside)
            )
        finally:
            _reading.reset(token)
        return outputs if inside is outside else _cast_floats(outputs, outside)


def _is_array_of_floats(value: Any) -> bool:
    return hasattr(value, "__array_interface__") and bool(value.shape) and value.dtype.kind == "f"


def _cast_floats(structure: Any, dtype: DType | None) -> Any:
    """A structure with its tensors of floats in a dtype; their masks go along."""
    result = nest.map_structure(lambda leaf: _cast_float(leaf, dtype), structure)
    if known and result is not structure:
        pass_on(result, mask_of(structure))
    return result


def _cast_float(value: Any, dtype: DType | None) -> Any:
    if dtype is None or not isinstance(value, Tensor) or not value.dtype.is_floating or value.dtype is dtype:
        return value
    return cast(value, dtype)
