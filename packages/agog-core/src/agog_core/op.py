"""What an op is: its name, its shape and dtype rules, and its vector-Jacobian products."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agog_core import dtypes
from agog_core.dtypes import DType
from agog_core.errors import InvalidArgumentError

Vjp = Callable[..., Any]
Names = str | tuple[str, ...]

registry: dict[str, Op] = {}


class Op:
    """One operation: what every backend, tape and test may know of it.

    A vjp is a function of ``g``, the gradient of the op's output, and of whatever else it names: an input (``x``), an input's
    shape (``x_shape``), the output (``out``), an attribute (``axis``). The tape keeps exactly what the vjp names. It is
    written in ops, so it works on every device and can be differentiated again.

    Args:
        name: the op's name, which its kernels carry too.
        function: the public function.
        inputs: names of the tensor inputs, in the order in which the kernel takes their arrays; a name that starts with ``*`` stands
            for any number of inputs.
        shape: ``shape(*input_shapes, **attributes)`` to the output's shape, or to a list of shapes for an op with several outputs.
            It raises `InvalidArgumentError` where the shapes do not fit.
        dtype: the output's dtype: None for that of the inputs, a `DType`, or ``dtype(input_dtype, **attributes)``.
        dtypes: the dtypes that the op is defined for.
        vjp: input name (or a tuple of names, for one vjp that returns a tuple) to its vjp. An input without one is not differentiable.
        alike: the inputs that share the op's dtype; by default all of them.
        updates: the inputs that kernels update in place.
        views: whether a kernel's result may share memory with an input.

    Raises:
        ValueError: a vjp names something that the op does not have, or the name is taken.
    """

    __slots__ = (
        *("alike", "attributes", "dtype", "dtypes", "function", "inputs", "is_differentiable", "name", "saves", "shape"),
        *("updates", "variadic", "views", "vjps"),
    )

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        inputs: Sequence[str],
        shape: Callable[..., Any],
        dtype: DType | Callable[..., Any] | None = None,
        dtypes: frozenset[DType] = dtypes.ALL,
        vjp: Mapping[Names, Vjp] | None = None,
        alike: Sequence[str] | None = None,
        updates: Sequence[str] = (),
        views: bool = False,
    ) -> None:
        self.name = name
        self.function = function
        self.variadic = any(i.startswith("*") for i in inputs)
        self.inputs = tuple(i.lstrip("*") for i in inputs)
        self.shape = shape
        self.dtype = dtype
        self.dtypes = dtypes
        self.alike = tuple(n for n, i in enumerate(self.inputs) if alike is None or i in alike)
        self.updates = tuple(updates)
        self.views = views
        self.vjps: dict[tuple[str, ...], Vjp] = {(k,) if isinstance(k, str) else k: v for k, v in (vjp or {}).items()}
        self.saves = {sources: _parameters(v)[1:] for sources, v in self.vjps.items()}
        self.is_differentiable = bool(self.vjps)
        for sources in self.vjps:
            if unknown := set(sources) - set(self.inputs):
                raise ValueError(f"Op {name!r}: a vjp is given for {sorted(unknown)}, but the inputs are {list(self.inputs)}.")
        if registry.setdefault(name, self) is not self:
            raise ValueError(f"Op {name!r} is defined already; choose another name.")

    def check_dtype(self, dtype: DType) -> None:
        """Raise when the op is not defined for a dtype.

        Args:
            dtype: the dtype of the op's inputs.

        Raises:
            InvalidArgumentError: the op is not defined for it.
        """
        if dtype not in self.dtypes:
            allowed = ", ".join(sorted(d.name for d in self.dtypes))
            raise InvalidArgumentError(f"{self.name}: dtype {dtype.name} is not supported; use one of {allowed}. Cast with tf.cast.")

    def result_dtype(self, dtype: DType, attributes: Mapping[str, Any]) -> Any:
        """The output's dtype by the op's rule.

        Args:
            dtype: the dtype of the inputs.
            attributes: the op's attributes.

        Returns:
            A `DType`, or a list of them for an op with several outputs.
        """
        if self.dtype is None:
            return dtype
        return self.dtype if isinstance(self.dtype, DType) else self.dtype(dtype, **attributes)

    def __repr__(self) -> str:
        return f"<Op {self.name}({', '.join(self.inputs)})>"


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount]
