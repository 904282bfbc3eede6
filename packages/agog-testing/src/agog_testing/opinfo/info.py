"""Info: the facts of an op: samples of its calls, a reference, errors and tolerances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from agog_core import dtypes
from agog_core.dispatch.op import Op, all_ops

Array = np.ndarray[Any, Any]
Sized = Callable[[str, np.random.Generator, int], Iterable["Sample"]]

# (rtol, atol) of one op's result. Half precision computes in more bits and rounds once; float64 allows for another
# order of sums.
TOLERANCES: Mapping[str, tuple[float, float]] = {
    "float16": (2e-3, 1e-3),
    "bfloat16": (2e-2, 1e-2),
    "float32": (2e-6, 2e-6),
    "float64": (1e-13, 1e-13),
    "complex64": (2e-6, 2e-6),
    "complex128": (1e-13, 1e-13),
}


@dataclass(frozen=True)
class Sample:
    """One call of an op's public function.

    Args:
        name: what is special about it, such as ``"broadcast (2, 1) (3,)"``.
        args: the positional arguments; NumPy arrays in it, also inside lists, become tensors. For an op that updates
            variables they become variables.
        kwargs: the keyword arguments, in the same form. The arrays come in the order of the op's inputs.
        smooth: whether the gradient can be checked there: no kink, no infinity, no NaN.
        digest: the SHA-256 of the result's bytes, where every backend must give the same bits.
    """

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    smooth: bool = True
    digest: str | None = None


@dataclass(frozen=True)
class ErrorSample:
    """One call that must fail.

    Args:
        args: as for `Sample`.
        kwargs: as for `Sample`.
        error: the exception's type, exactly.
        text: the whole text of the error.
        dtype: the dtype in whose tests the call belongs.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    error: type[Exception] = Exception
    text: str = ""
    dtype: str = "float32"


@dataclass(frozen=True)
class OpInfo:
    """The facts about one op; an entry enrols the op in every test.

    Args:
        name: the op's name.
        samples: ``samples(dtype, rng)`` to samples whose inputs are of that dtype. A generator in the same state gives
            the same samples.
        reference: maps a sample's arguments, with arrays of float64 for tensors (int64 or uint64 for integers,
            complex128 for complex numbers), to the expected array or tuple of arrays. For an op that updates variables
            it returns their new values. It is independent of all kernels.
        function: the public function; by default the op's.
        differentiable: whether the op has a gradient. It says so explicitly, so that a forgotten vjp is noticed.
        errors: calls that must fail.
        tolerances: dtype to (rtol, atol), where those of the kit do not do.
        eps: the step of central differences; larger than the default for an op that is linear and rounds.
        sized: ``sized(dtype, rng, size)`` to samples of that size, one for each way to scale the op.
        elementwise: whether the reference of arrays end to end is that of each, end to end.
        signed_zeros: whether the op's rule, or IEEE 754's, says which of the two zeros a result is.
        timed: calls to time kernels with, from small to large, as ``samples``; by default samples made longer.
    """

    name: str
    samples: Callable[[str, np.random.Generator], Iterable[Sample]]
    reference: Callable[..., Any]
    _: KW_ONLY
    function: Callable[..., Any] | None = None
    differentiable: bool = True
    errors: tuple[ErrorSample, ...] = ()
    tolerances: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    eps: float = 1e-6
    sized: Sized | None = None
    elementwise: bool = False
    signed_zeros: bool = False
    timed: Callable[[str, np.random.Generator], Iterable[Sample]] | None = None

    @property
    def op(self) -> Op:
        """The op."""
        return all_ops()[self.name]

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The names of the dtypes that the op is defined for."""
        return tuple(sorted(dtype.name for dtype in self.op.dtypes))

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the op's public function."""
        return (self.function or self.op.function)(*args, **kwargs)

    def tolerance(self, dtype: str) -> tuple[float, float]:
        """The tolerance of a dtype: the pair (rtol, atol), of zeros for dtypes that are exact."""
        return self.tolerances.get(dtype, TOLERANCES.get(dtype, (0.0, 0.0)))


def reference_array(array: Array) -> Array:
    """A sample's array as what a reference computes with: float64, int64, uint64 or complex128; bools and strings as
    they are.
    """
    dtype = dtypes.as_dtype(array.dtype)
    if dtype.is_floating:
        return array.astype(np.float64)
    if dtype.is_complex:
        return array.astype(np.complex128)
    if dtype.is_integer and dtype is not dtypes.uint64:
        return array.astype(np.int64)
    return array
