"""The setting of the allocator: large arrays come from memory that is kept."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from agog_cpu_numpy.allocator import empty
from agog_cpu_numpy.backend import copy

PROGRAM = """
import resource
import numpy as np
import agog_core as ag

x = ag.constant(np.ones(1_000_000, np.float32))
x * 2.0
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    x * 2.0
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(**environment: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the setting is glibc's")
def test_a_freed_buffer_is_used_again() -> None:
    """4 MB are 977 pages; each call would fault on them again."""
    assert page_faults() < 1000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the setting is glibc's")
def test_the_setting_can_be_left_out() -> None:
    from agog_cpu_numpy.allocator import keep_large_buffers

    assert keep_large_buffers()
    before = os.environ.get("AGOG_MALLOPT")
    os.environ["AGOG_MALLOPT"] = "0"
    try:
        assert not keep_large_buffers()
    finally:
        os.environ.pop("AGOG_MALLOPT")
        if before is not None:
            os.environ["AGOG_MALLOPT"] = before
    assert page_faults(AGOG_MALLOPT="0", MALLOC_MMAP_THRESHOLD_="1000000") > 20_000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be asked")
def test_memory_that_no_array_holds_is_given_back() -> None:
    program = """
import numpy as np
import agog_core as ag

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20

x = ag.constant(np.ones(1_000_000, np.float32))
kept = [x * 2.0 for _ in range(50)]
last = x * 3.0
full = resident()
del kept
before = resident()
ag.free_cached_memory("cpu")
print(full - before < 50, full - resident() > 150, last.numpy()[-1])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True True 3.0\n"


def test_one_variable_leaves_memory_to_numpy() -> None:
    program = "import agog_core as ag; print(ag.constant(1.0)._table.device.backend.empty is None)"
    for value, told in (("0", "True"), ("1", "False")):
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"AGOG_MALLOPT": value},
        )
        assert done.stdout == f"{told}\n"


@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (16, 65), (300, 100), (16385,), (7, 11, 1013)])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex128", "object"])
def test_arrays_begin_at_cache_lines_where_they_are_large(shape: tuple[int, ...], dtype: str) -> None:
    array = empty(shape, np.dtype(dtype))
    assert (type(array), array.shape, array.dtype, array.flags.c_contiguous) == (np.ndarray, shape, dtype, True)
    assert array.flags.writeable
    if array.nbytes >= 1 << 12 and dtype != "object":
        assert array.ctypes.data % 64 == 0
    assert array.reshape(-1)[:1].base is array


def test_copies_of_large_arrays_begin_at_cache_lines() -> None:
    given = np.asfortranarray(np.random.default_rng(0).normal(size=(300, 200)))
    copied = copy(given)
    np.testing.assert_array_equal(copied, given)
    assert (copied.flags.c_contiguous, copied.ctypes.data % 64) == (True, 0)
