"""NCCL on a card: a communicator of one process runs every verb, and one of as many processes as there are cards."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import agog.eager as tfe
from agog_cuda_cupy import nccl
from agog_distribute.processes.alone import Alone

VALUES = Path(__file__).parents[2] / "plugins" / "agog-mpi" / "tests" / "programs" / "values.py"
NUMBERS = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)


@pytest.fixture(autouse=True)
def _needs_nccl() -> None:
    if (reason := nccl.unavailable()) is not None:
        pytest.skip(reason)


@pytest.fixture(scope="module")
def comm() -> Any:
    """What connects this process with itself."""
    return nccl.connect(Alone())


@pytest.mark.parametrize("shape", [(4, 3), (70_001,), (), (0, 2)], ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_one_process_gets_back_what_it_gives(dtype: str, shape: tuple[int, ...], comm: Any) -> None:
    import cupy

    wanted = np.random.default_rng(3).integers(-9, 9, shape).astype(getattr(ml_dtypes, dtype, dtype))
    x = cupy.array(wanted)
    found = [comm.all_reduce(x, "sum"), comm.broadcast(x, 0)]
    if shape:
        found += [comm.all_gather(x), comm.reduce_scatter(x, "sum"), comm.all_to_all(x)]
    if not dtype.startswith("complex"):
        found += [comm.all_reduce(x, "max"), comm.all_reduce(x, "min")]
    if dtype.startswith(("float", "bfloat", "complex")):
        found += [comm.all_reduce(x, "mean")]
    for each in found:
        assert each.dtype == x.dtype
        assert each.data.ptr != x.data.ptr or not x.size
        np.testing.assert_array_equal(each.get(), wanted)


def test_truth_values_move_and_nan_stays(comm: Any) -> None:
    import cupy

    assert comm.all_gather(cupy.array([True, False])).tolist() == [True, False]
    np.testing.assert_array_equal(comm.all_reduce(cupy.array([np.nan, 1, -np.inf]), "max").get(), [np.nan, 1, -np.inf])


def test_collectives_keep_their_order_with_other_work(comm: Any) -> None:
    import cupy

    total = cupy.zeros((512, 512), "float32")
    for step in range(50):
        total = comm.all_reduce(total + cupy.float32(step), "sum")
    assert np.unique(total.get()).tolist() == [sum(range(50))]


def test_a_smaller_group_is_connected_anew(comm: Any) -> None:
    import cupy

    alone = comm.split([0])
    assert (alone.rank, alone.size) == (0, 1)
    assert alone.all_reduce(cupy.array([2.5]), "sum").tolist() == [2.5]


def test_each_card_gets_what_numpy_computes_of_all(on_numpy: bool) -> None:
    if on_numpy:
        pytest.skip("the stand-in's NCCL is between threads, not between processes")
    cards = tfe.num_gpus()
    mpiexec = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if cards < 2 or mpiexec is None or find_spec("agog_mpi") is None:
        pytest.skip("it takes two cards, agog-mpi and its mpiexec")
    done = subprocess.run(
        [mpiexec, "-n", str(cards), sys.executable, str(VALUES), "gpu"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("has found all as wanted") == cards
