"""Plans: primitives with their memory objects for arrays of one shape, prepared once, for one thread at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core.plugin import version
from stranger_onednn.api import ENGINE, NULL, Arg, Is, check, described, ffi, layout_of, lib, new
from stranger_onednn.team import team

# The layout in which each argument comes, or in which a result is to be.
Layouts = dict[Arg, Any]


class Plan:
    """A primitive that is called with arrays in the order of its arguments.

    Args:
        stream: the stream of the thread.
        description: the primitive's description.
        layouts: the arguments, and the layouts of their arrays. What the primitive wants otherwise is reordered.
        results: how many of them, the last ones, are results.
    """

    def __init__(self, stream: Any, description: Any, layouts: Layouts, results: int = 1) -> None:
        self._stream, self._description = stream, description
        self._primitive = new(lib.dnnl_primitive_create, description, free=lib.dnnl_primitive_destroy)
        self._args = ffi.new("exec_arg[]", len(layouts))
        self._before: list[_Reorder] = []
        self._after: list[_Reorder] = []
        self._plain: list[tuple[Any, int]] = []
        for place, (arg, given) in enumerate(layouts.items()):
            wanted = layout_of(description, arg)
            self._args[place].arg = arg
            if lib.dnnl_memory_desc_equal(wanted, given):
                memory = _memory(wanted)
                self._plain.append((memory, place))
            else:
                is_result = place >= len(layouts) - results
                reorder = _Reorder(stream, place, given, wanted, is_result, may_stay=arg is Arg.WEIGHTS)
                memory = reorder.inside
                (self._after if is_result else self._before).append(reorder)
            self._args[place].memory = memory

    def __call__(self, *arrays: Any) -> None:
        """Compute; each array is C-contiguous."""
        team.ready()
        for reorder in self._before:
            reorder(arrays[reorder.place])
        for memory, place in self._plain:
            lib.dnnl_memory_set_data_handle(memory, ffi.from_buffer(arrays[place]))
        check(lib.dnnl_primitive_execute(self._primitive, self._stream, len(arrays), self._args), "a primitive")
        for reorder in self._after:
            reorder(arrays[reorder.place])


class _Reorder:
    """A copy of an argument in the layout that a primitive wants; that of a weight stays until the weight changes."""

    def __init__(self, stream: Any, place: int, given: Any, wanted: Any, is_result: bool, may_stay: bool) -> None:
        self.place, self._stream, self._may_stay = place, stream, may_stay
        self._copied: tuple[int, int] | None = None  # the address and the version of the weight
        self._buffer = _aligned(lib.dnnl_memory_desc_get_size(wanted))
        self.inside, self._outside = _memory(wanted, ffi.from_buffer(self._buffer)), _memory(given)
        ends = [(given, self._outside), (wanted, self.inside)]
        (source, first), (target, second) = ends[::-1] if is_result else ends
        create = lib.dnnl_reorder_primitive_desc_create
        self._description = described(create, source, ENGINE, target, ENGINE, NULL)
        self._primitive = new(lib.dnnl_primitive_create, self._description, free=lib.dnnl_primitive_destroy)
        self._args = ffi.new("exec_arg[]", [(Arg.SOURCE, first), (Arg.TARGET, second)])

    def __call__(self, array: Any) -> None:
        address, number = ffi.from_buffer(array), version(array) if self._may_stay else None
        key = None if number is None else (int(ffi.cast("intptr_t", address)), number)
        if key is not None and key == self._copied:
            return
        lib.dnnl_memory_set_data_handle(self._outside, address)
        check(lib.dnnl_primitive_execute(self._primitive, self._stream, 2, self._args), "a reorder")
        self._copied = key


class Plans:
    """The plans of one thread for one op, by what they are made for; those that were used last are kept."""

    def __init__(self, make: Callable[..., Any], most: int = 64) -> None:
        self._stream = new(lib.dnnl_stream_create, ENGINE, Is.IN_ORDER, free=lib.dnnl_stream_destroy)
        self._make, self._most = make, most
        self._plans: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def __call__(self, *key: Any) -> Any:
        """The plan for a key, made where there is none."""
        found = self._plans.get(key)
        if found is None:
            found = self._plans[key] = self._make(self._stream, *key)
            if len(self._plans) > self._most:
                self._plans.popitem(last=False)
        else:
            self._plans.move_to_end(key)
        return found


def contiguous(array: Any) -> Any:
    """The array, or a copy of it, one row after the other in memory."""
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def steps(shape: Sequence[int]) -> list[int]:
    """The strides of contiguous elements."""
    found = [1]
    for size in reversed(shape[1:]):
        found.append(found[-1] * size)
    return found[::-1]


def _memory(layout: Any, handle: Any = NULL) -> Any:
    return new(lib.dnnl_memory_create, layout, ENGINE, handle, free=lib.dnnl_memory_destroy)


def _aligned(size: int) -> Any:
    memory = np.empty(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size]
