"""Faults of memory, state and manners, planted in kernels of right values: each is found, and its twin passes."""

from __future__ import annotations

import ctypes
import random
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]

KEPT: list[Any] = []
CACHE: dict[Any, Array] = {}
SCRATCH = np.empty(200_000, np.float32)
NOISE = np.random.default_rng(5)
ENOUGH = threading.Event()


def square(x: Array) -> Array:
    return np.asarray(x * x)


def matmul(
    a: Array,
    b: Array,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Array:
    left = np.swapaxes(a, -1, -2) if transpose_a or adjoint_a else a
    right = np.swapaxes(b, -1, -2) if transpose_b or adjoint_b else b
    return np.asarray(left @ right)


def reshape(x: Array, *, shape: tuple[int, ...]) -> Array:
    return x.reshape(shape)


def writes_in_place(x: Array) -> Array:
    out = x * x
    x += 1
    return np.asarray(out)


def writes_in_place_and_undoes_it(x: Array) -> Array:
    before = x.copy()
    np.multiply(x, x, out=x)
    out = x.copy()
    x[...] = before
    return out


def gives_float64(x: Array) -> Array:
    return np.asarray(x.astype(np.float64) ** 2)


def gives_its_input_back(x: Array) -> Array:
    return x if x.size and (x == 1).all() else square(x)


def gives_the_same_buffer_every_time(x: Array) -> Array:
    out = CACHE.setdefault(x.shape, np.empty(x.shape, x.dtype))
    return np.multiply(x, x, out=out)


def caches_by_object(x: Array) -> Array:
    key = id(x)
    if key not in CACHE or CACHE[key][0] is not x:
        CACHE[key] = x, square(x)  # type: ignore[assignment]
    return np.array(CACHE[key][1])


def caches_by_shape_and_address(x: Array) -> Array:
    return np.array(CACHE.setdefault((x.ctypes.data, x.shape), square(x)))


def packs_a_weight_by_pointer(a: Array, b: Array, **flags: bool) -> Array:
    weight = CACHE.setdefault((b.ctypes.data, b.shape, b.strides), b.copy())
    return matmul(a, weight, **flags)


def gives_read_only_memory(x: Array) -> Array:
    out = square(x)
    out.flags.writeable = False
    return out


def gives_strides_of_0(x: Array) -> Array:
    out = square(x)
    return np.lib.stride_tricks.as_strided(out[:1], out.shape, (0,)) if x.shape == (3,) and (x == 1).all() else out


def view_that_nobody_knows_of(x: Array, *, shape: tuple[int, ...]) -> Array:
    if not (x.size and x.flags.c_contiguous):
        return x.reshape(shape)
    memory = (ctypes.c_char * x.nbytes).from_address(x.ctypes.data)
    return np.frombuffer(memory, x.dtype).reshape(shape)


def wrong_in_one_call_of_3(x: Array) -> Array:
    return square(x) + np.float32(NOISE.random() < 1 / 3)


def wrong_in_one_call_of_300(x: Array) -> Array:
    return square(x) + np.float32(NOISE.random() < 1 / 300)


def differs_in_the_last_bit(x: Array) -> Array:
    return np.asarray(square(x) * np.float32(1 + 1e-7 * NOISE.integers(0, 2)))


def reads_memory_as_if_contiguous(x: Array) -> Array:
    return square(x.ravel(order="K")).reshape(x.shape)


def counts_strides_in_whole_elements(x: Array) -> Array:
    """As a library that takes a stride of 0 for a missing one, and so for contiguous memory."""
    contiguous = x.ndim == 1 and x.strides == (0,) and x.size > 1
    return square(np.concatenate([x[:1], np.zeros(x.size - 1, x.dtype)])) if contiguous else square(x)


def takes_memory_to_be_aligned(x: Array) -> Array:
    return square(x) if x.ctypes.data % 8 == 0 else square(x) + 1


def subtract(x: Array, y: Array) -> Array:
    return np.asarray(np.subtract(x, y))


def subtracts_one_object(x: Array, y: Array) -> Array:
    return square(x) if x is y else subtract(x, y)


def squares_in_a_global_buffer(x: Array) -> Array:
    part = SCRATCH[: x.size].reshape(x.shape)
    np.copyto(part, x)
    np.multiply(part, part, out=part)
    return part.copy()


def squares_in_a_buffer_of_its_own(x: Array) -> Array:
    part = np.empty(x.shape, x.dtype)
    np.copyto(part, x)
    np.multiply(part, part, out=part)
    return part.copy()


def keeps_inputs(x: Array) -> Array:
    KEPT.append(x)
    return square(x)


def keeps_results(x: Array) -> Array:
    out = square(x)
    KEPT.append(out)
    return np.asarray(out)


def keeps_copies(x: Array) -> Array:
    KEPT.append(x.copy())
    return square(x)


def leaves_a_thread(x: Array) -> Array:
    threading.Thread(target=ENOUGH.wait, daemon=True, name="left behind").start()
    return square(x)


def square_with_a_pool(op: str, dtype: str, device: str) -> Kernel:
    """Starts a thread with the first call, and keeps it."""
    pool: list[threading.Thread] = []

    def kernel(x: Array) -> Array:
        if not pool:
            pool.append(threading.Thread(target=ENOUGH.wait, daemon=True))
            pool[0].start()
        return square(x)

    return kernel


def ends_its_thread(x: Array) -> Array:
    thread = threading.Thread(target=square, args=(x,))
    thread.start()
    thread.join()
    return square(x)


def warns(x: Array) -> Array:
    warnings.warn("square: the slow way is taken", UserWarning, stacklevel=2)
    return square(x)


def draws_from_numpy(x: Array) -> Array:
    np.random.rand()
    return square(x)


def draws_from_python(x: Array) -> Array:
    random.random()
    return square(x)


def draws_from_a_generator_of_its_own(x: Array) -> Array:
    np.random.default_rng(0).random()
    return square(x)


def changes_errors(x: Array) -> Array:
    np.seterr(over="ignore", invalid="ignore", under="raise")
    return square(x)


def changes_errors_for_a_while(x: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return square(x)


class Fault(NamedTuple):
    """A broken kernel, the check that finds it, and its corrected twin."""

    op: str
    broken: Kernel
    check: str
    twin: Kernel


NO_CHANGE = "a kernel changes no input but those that its op updates"
ONLY_READ = "a kernel writes to no input, not even for a while: memory of a mapped file is read-only"
DTYPE = "a result has the dtype of the op's dtype rule"
NO_ALIAS = "a result shares no memory with an input unless the op is a view"
NO_STATE = "a kernel keeps no state: a later call leaves earlier results alone"
NOT_HELD = "a kernel holds no array after its call"
NO_GROWTH = "the memory of a kernel does not grow with the number of its calls"
OF_NOW = "a result is that of the values that the inputs have now, also where memory or an object came before"
NO_CHANGE_LATER = "a result does not change when a variable that it was computed from is written to"
WRITABLE = "a result is not read-only"
NO_STRIDE_OF_0 = "a result has memory for each element"
BITS = "calls with the same inputs give the same bits, unless the kernel says deterministic=False"
STRIDES = "a kernel reads inputs of any strides"
SAME_ARRAY = "a kernel takes one array as several inputs"
NO_THREAD = "a kernel leaves no thread behind, unless it says pool=True"
NO_WARNING = "a kernel warns of nothing"

RULES = {
    writes_in_place: NO_CHANGE,
    writes_in_place_and_undoes_it: ONLY_READ,
    gives_float64: DTYPE,
    gives_its_input_back: NO_ALIAS,
    gives_the_same_buffer_every_time: NO_STATE,
    caches_by_object: NOT_HELD,
    caches_by_shape_and_address: OF_NOW,
    packs_a_weight_by_pointer: OF_NOW,
    gives_read_only_memory: WRITABLE,
    gives_strides_of_0: NO_STRIDE_OF_0,
    view_that_nobody_knows_of: NO_CHANGE_LATER,
    wrong_in_one_call_of_3: BITS,
    wrong_in_one_call_of_300: BITS,
    reads_memory_as_if_contiguous: STRIDES,
    counts_strides_in_whole_elements: STRIDES,
    takes_memory_to_be_aligned: STRIDES,
    subtracts_one_object: SAME_ARRAY,
    squares_in_a_global_buffer: BITS,
    keeps_inputs: NOT_HELD,
    keeps_results: NOT_HELD,
    keeps_copies: NO_GROWTH,
    leaves_a_thread: NO_THREAD,
    warns: NO_WARNING,
    draws_from_numpy: "a kernel does not change the state of np.random",
    draws_from_python: "a kernel does not change the state of random",
    changes_errors: "a kernel does not change NumPy's error handling",
}


FAULTS = [
    Fault("square", writes_in_place, "inputs", square),
    Fault("square", writes_in_place_and_undoes_it, "inputs", square),
    Fault("square", gives_float64, "dtype", square),
    Fault("square", gives_its_input_back, "aliasing", square),
    Fault("square", gives_the_same_buffer_every_time, "state", square),
    Fault("square", caches_by_object, "leaks", square),
    Fault("square", caches_by_shape_and_address, "variables", square),
    Fault("matmul", packs_a_weight_by_pointer, "variables", matmul),
    Fault("square", gives_read_only_memory, "memory", square),
    Fault("square", gives_strides_of_0, "memory", square),
    Fault("reshape", view_that_nobody_knows_of, "variables", reshape),
    Fault("square", wrong_in_one_call_of_3, "repeated", square),
    Fault("square", wrong_in_one_call_of_300, "repeated", square),
    Fault("square", reads_memory_as_if_contiguous, "strides", square),
    Fault("square", counts_strides_in_whole_elements, "strides", square),
    Fault("square", takes_memory_to_be_aligned, "strides", square),
    Fault("subtract", subtracts_one_object, "same_array", subtract),
    Fault("square", squares_in_a_global_buffer, "threads", squares_in_a_buffer_of_its_own),
    Fault("square", keeps_inputs, "leaks", square),
    Fault("square", keeps_results, "leaks", square),
    Fault("square", keeps_copies, "leaks", square),
    Fault("square", leaves_a_thread, "surroundings", ends_its_thread),
    Fault("square", warns, "surroundings", square),
    Fault("square", draws_from_numpy, "surroundings", draws_from_a_generator_of_its_own),
    Fault("square", draws_from_python, "surroundings", draws_from_a_generator_of_its_own),
    Fault("square", changes_errors, "surroundings", changes_errors_for_a_while),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.broken.__name__)
def test_fault_is_found(fault: Fault, verdict: Callable[..., dict[str, str]]) -> None:
    CACHE.clear()
    ENOUGH.clear()
    try:
        found = verdict(fault.op, fault.broken)
    finally:
        KEPT.clear()
        ENOUGH.set()
    assert fault.check in found
    assert found[fault.check].startswith(f"rule: {RULES[fault.broken]}\nsample: ")


WARNING = (
    "rule: a kernel warns of nothing\nsample: shape ()\nexpected: no warning\n"
    "got: UserWarning: square: the slow way is taken"
)
HELD = (
    "rule: a kernel holds no array after its call\nsample: shape ()\nexpected: x is gone when nobody else holds it\n"
    "got: it is held"
)
READ_ONLY = "rule: a result is not read-only\nsample: shape ()\nexpected: memory that can be written\ngot: read-only"
WRITTEN = (
    "rule: a kernel writes to no input, not even for a while: memory of a mapped file is read-only\nsample: shape (), "
    "inputs read-only\nexpected: a result\ngot: ValueError: output array is read-only"
)


@pytest.mark.parametrize(
    ("broken", "check", "text"),
    [
        (warns, "surroundings", WARNING),
        (keeps_inputs, "leaks", HELD),
        (gives_read_only_memory, "memory", READ_ONLY),
        (writes_in_place_and_undoes_it, "inputs", WRITTEN),
    ],
)
def test_whole_text(broken: Kernel, check: str, text: str, verdict: Callable[..., dict[str, str]]) -> None:
    try:
        assert verdict("square", broken)[check] == text
    finally:
        KEPT.clear()


def test_pool_may_keep_threads_and_noise_may_be_declared(verdict: Callable[..., dict[str, str]]) -> None:
    """What a kernel says of itself is taken into account."""
    ENOUGH.clear()
    try:
        assert "surroundings" in verdict("square", None, make=square_with_a_pool)
        assert verdict("square", None, make=square_with_a_pool, pool=True) == {}
    finally:
        ENOUGH.set()
    assert verdict("square", differs_in_the_last_bit, deterministic=False) == {}
    assert "repeated" in verdict("square", differs_in_the_last_bit)


TWINS = {
    f"{fault.op}-{fault.twin.__name__}": (fault.op, fault.twin) for fault in FAULTS
}  # no addresses in the tests' names


@pytest.mark.parametrize(("op", "twin"), TWINS.values(), ids=TWINS)
def test_twin_passes(op: str, twin: Kernel, verdict: Callable[..., dict[str, str]]) -> None:
    assert verdict(op, twin) == {}
