"""Binding: the kernels of one array library, ready for a plugin to register."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any, Literal

from agog_kernels_xp.parts.deferral import Defer, deferring
from agog_kernels_xp.parts.writing import is_writable

Kernel = Callable[..., Any]
Combine = Callable[[str, Any, Any, Any], Any]
Bits = Callable[[tuple[int, int, int], int], Any]


def bind(
    xp: Any,
    *,
    bits: Bits | Literal["host"] | None = None,
    wrap: Callable[[str, Kernel], Kernel] | None = None,
    dtype: Callable[[str], Any] | None = None,
    defer: Defer | None = None,
    combine: Combine | None = None,
) -> Callable[[str], Kernel]:
    """Bind the kernels of this package to an array library.

    A kernel is made when it is first asked for, so that a program loads no family of kernels that it does not use. As
    the ``__getattr__`` of a module ``my_plugin.kernels`` the result lets ``"my_plugin.kernels:matmul"`` name a kernel.

    Args:
        xp: the array library: NumPy, one with NumPy's interface, or one with the array API standard's, such as
            array-api-strict. For the last, `standard` puts NumPy's face on it, and `standard.MISSING` says for which
            ops that is not enough.
        bits: where random bits come from: ``bits(key, count)`` to ``count`` uint64 numbers of Philox4x64-10, as
            `numpy.random.Philox` makes them of the key's first two words and the counter that is its third; by default
            the library's integers make them. ``"host"``: the host makes them, and the library's ``asarray`` copies
            them.
        wrap: ``wrap(op, kernel)`` to the kernel that is registered, such as one that unwraps arrays and wraps results.
        dtype: turns the name of a dtype, such as ``"bfloat16"``, into the library's dtype; by default names are passed
            on as they are.
        defer: ``defer(values, check)`` has ``check`` called with the values of arrays of rank 0, as NumPy scalars, when
            somebody waits for the device; it raises InvalidArgumentError where an index or a label is out of range.
            By default kernels wait and look themselves.
        combine: ``combine(operation, target, rows, updates)`` combines updates into the rows of an array in place, as
            ``xp.add.at`` does, or returns NotImplemented; for a library whose own ``at`` adds in any order.

    Returns:
        A function of an op's name to its kernel, the same one at each call. It raises AttributeError for an op that has
        none here.

    >>> import numpy
    >>> kernel_of = bind(numpy)
    >>> kernel_of("reduce_sum")(numpy.ones((2, 3)), axes=(1,), keepdims=False).tolist()
    [3.0, 3.0]
    """
    from agog_kernels_xp import COMPOSED, ELEMENTWISE  # here, because that package imports this module

    if bits == "host":
        bits = _host_bits(xp)
    if defer is not None:
        deferring[xp] = defer
    if combine is not None:
        from agog_kernels_xp.parts.accumulation import combining  # here, because it imports NumPy

        combining[xp] = combine
    family_of = {op: family for family, ops in COMPOSED.items() for op in ops}
    if not (hasattr(xp, "ufunc") and is_writable(xp)):  # as NumPy and CuPy; JAX has it, and its arrays are not written
        return _bind_to_standard(xp, bits, wrap, dtype)

    def kernel_of(op: str) -> Kernel:
        if op in ELEMENTWISE:
            kernel: Kernel = getattr(xp, ELEMENTWISE[op])
        elif op in family_of:
            kernel = _bound(getattr(import_module(f"agog_kernels_xp.{family_of[op]}"), op), xp, bits, dtype)
        else:
            raise AttributeError(f"agog_kernels_xp has no kernel for op {op!r}.")
        return kernel if wrap is None else wrap(op, kernel)

    return cache(kernel_of)


def _bind_to_standard(xp: Any, bits: Bits | None, wrap: Any, dtype: Any) -> Callable[[str], Kernel]:
    """The kernels for a library that has the array API standard's interface alone, by NumPy's face on it."""
    from agog_kernels_xp.standard.missing import MISSING
    from agog_kernels_xp.standard.namespace import NumPyNamespace

    face = NumPyNamespace(xp)

    def on_native(op: str, kernel: Kernel) -> Kernel:
        if op in MISSING:
            raise AttributeError(f"agog_kernels_xp has no kernel for op {op!r} on {xp.__name__}: {MISSING[op]}.")
        native: Kernel = face.kernel(op, kernel)
        return native if wrap is None else wrap(op, native)

    return bind(face, bits=None if bits is None else face.source(bits), wrap=on_native, dtype=dtype)


def _bound(kernel: Kernel, xp: Any, bits: Bits | None, dtype: Callable[[str], Any] | None) -> Kernel:
    """The kernel for a library; a parameter ``bits`` is the source of random bits, and ``dtype`` comes by name."""
    code = kernel.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    bound = partial(kernel, xp)
    if "bits" in parameters:
        bound = partial(kernel, xp, bits or _own_bits(xp))
    if "dtype" not in parameters or dtype is None:
        return bound
    convert = dtype

    def with_dtype(*arrays: Any, dtype: str, **attributes: Any) -> Any:
        return bound(*arrays, dtype=convert(dtype), **attributes)

    with_dtype.__wrapped__ = bound  # type: ignore[attr-defined]  # whose signature `agog ops` shows
    return with_dtype


def _host_bits(xp: Any) -> Bits:
    from agog_core.plugin import random_bits  # here, because it imports NumPy

    return lambda key, count: xp.asarray(random_bits(key, count))


def _own_bits(xp: Any) -> Bits:
    from agog_kernels_xp.random.philox import philox

    return partial(philox, xp)
