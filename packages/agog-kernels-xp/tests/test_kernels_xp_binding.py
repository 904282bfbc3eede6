"""Binding: what a plugin gets for its array library."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

import agog_kernels_xp
from agog_kernels_xp import bind
from agog_testing import says


def test_elementwise_kernels_are_the_library_s_own() -> None:
    kernel_of = bind(np)
    assert {op: kernel_of(op) for op in agog_kernels_xp.ELEMENTWISE} == {
        op: getattr(np, name) for op, name in agog_kernels_xp.ELEMENTWISE.items()
    }


def test_every_name_has_a_kernel_that_is_made_once() -> None:
    kernel_of = bind(np)
    for op in agog_kernels_xp.NAMES:
        assert kernel_of(op) is kernel_of(op)


def test_composed_kernels_compute_with_the_library() -> None:
    out = bind(np)("reduce_sum")(np.arange(6.0).reshape(2, 3), axes=(0,), keepdims=True)
    assert out.tolist() == [[3.0, 5.0, 7.0]]


def test_module_takes_it_as_its_getattr() -> None:
    kernels = ModuleType("my_plugin.kernels")
    kernels.__getattr__ = bind(np)  # type: ignore[method-assign]
    assert kernels.square is np.square
    with says(AttributeError, "agog_kernels_xp has no kernel for op 'levitate'."):
        kernels.levitate  # noqa: B018


def test_dtypes_come_by_name() -> None:
    asked = []

    def dtype(name: str) -> Any:
        asked.append(name)
        return np.dtype(name)

    out = bind(np, dtype=dtype)("fill")(shape=(2,), value=3, dtype="int16", index=0)
    assert (out.tolist(), out.dtype, asked) == ([3, 3], np.dtype("int16"), ["int16"])


def test_random_bits_of_the_host_are_those_that_the_library_makes() -> None:
    own, of_host = (bind(np, bits=bits)("random_normal") for bits in (None, "host"))
    call = {"shape": (7, 3), "key": (1, 2**63, 5), "dtype": "float64", "index": 0}
    assert own(**call).tolist() == of_host(**call).tolist()


def test_the_library_copies_bits_of_the_host() -> None:
    copied = []

    class Library(SimpleNamespace):
        """NumPy, which tells what is copied to it."""

        def asarray(self, values: Any) -> Any:
            copied.append((values.dtype.name, values.shape))
            return values

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

    bind(Library(), bits="host")("random_uniform")(shape=(2,), key=(1, 2, 3), dtype="float64", index=0)
    assert copied == [("uint64", (2,))]


def test_random_kernels_take_the_source_of_bits() -> None:
    def bits(key: tuple[int, int, int], count: int) -> Any:
        return np.full(count, key[2] << 11, np.uint64)

    out = bind(np, bits=bits)("random_uniform")(shape=(2,), key=(1, 2, 3), dtype="float64", index=0)
    assert out.tolist() == [3 * 2.0**-53] * 2


def test_wrap_sees_each_kernel_once_and_its_op() -> None:
    wrapped = []

    def wrap(op: str, kernel: Any) -> Any:
        wrapped.append(op)
        return lambda *arrays, **attributes: kernel(*[np.asarray(x) for x in arrays], **attributes)

    kernel_of = bind(np, wrap=wrap)
    assert kernel_of("add")([1.0], [2.0]).tolist() == [3.0]
    assert kernel_of("transpose")([[1.0, 2.0]], perm=(1, 0)).tolist() == [[1.0], [2.0]]
    assert kernel_of("add")([1.0], [4.0]).tolist() == [5.0]
    assert wrapped == ["add", "transpose"]
