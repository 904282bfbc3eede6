"""Which ops wait for the GPU, over the samples of all of them, and why; no other does, nor does its gradient."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Thread
from time import sleep
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cupy_on_numpy import counting

import agog_core as ag
from agog_core.dispatch.devices.lookup import get_device
from agog_core.plugin import InvalidArgumentError
from agog_cuda_cupy import value_checks
from agog_testing import says
from agog_testing.opinfo import OpInfo, Sample, table
from agog_testing.subject import map_arrays

# One dtype of each op: the first of these that it has.
USUAL = ("float32", "int32", "bool", "complex64", "int64")
SIZE = "the size of the result depends on values"
COUNT = "how often its loop runs depends on values"
GIVEN = "a tensor of the device is given where sizes are asked for"
HOST = "it is computed on the host"
WAITING = {
    **dict.fromkeys(("argwhere", "dynamic_partition", "setdiff1d", "unique_with_counts"), SIZE),
    **dict.fromkeys(("ctc_greedy_decoder", "dynamic_stitch"), SIZE),
    "bincount": f"{SIZE}, unless maxlength and minlength are equal",
    **dict.fromkeys(("matrix_exponential", "matrix_square_root"), COUNT),
    **dict.fromkeys(("igamma", "igammac"), "how many terms the gradient by the shape sums depends on values"),
    **dict.fromkeys(("frame", "pad"), GIVEN),
    "ctc_beam_search_decoder": f"{HOST}: what is looked at next depends on what was found",
    "matrix_logarithm": f"{HOST}: CuPy has no Schur form",
    "non_max_suppression": f"{HOST}, and {SIZE}",
    "check_numerics": "it is there to look",
}


def usual(info: OpInfo) -> str | None:
    """The dtype that an op is tried with; None for one of the host, or of strings alone."""
    kinds = {dtype.name for dtype in info.op.dtypes}
    return None if info.op.host else next((dtype for dtype in USUAL if dtype in kinds), None)


OPS = sorted(name for name, info in table.items() if usual(info) is not None)


def calls(info: OpInfo, sample: Sample) -> Iterator[dict[str, int]]:
    """The waits of a call, and those of its gradient."""
    names = iter(info.op.inputs)
    inputs: list[Any] = []

    def on_device(array: Any) -> Any:
        is_updated = next(names, None) in info.op.updates
        inputs.append(ag.Variable(array) if is_updated else ag.constant(array))
        return inputs[-1]

    args = [map_arrays(on_device, value) for value in sample.args]
    kwargs = {key: map_arrays(on_device, value) for key, value in sample.kwargs.items()}
    sources = [x for x in inputs if x.dtype.is_differentiable]
    with ag.GradientTape() as tape:
        tape.watch([x for x in sources if isinstance(x, ag.Tensor)])
        counting.reset()
        result = info.call(*args, **kwargs)
        yield dict(counting.waits)
    results = result if isinstance(result, (list, tuple)) else [result]
    if info.differentiable:
        counting.reset()
        tape.gradient([y for y in results if isinstance(y, ag.Tensor) and y.dtype.is_differentiable], sources)
        yield dict(counting.waits)


def waits_of(op: str) -> dict[str, int]:
    """All waits over an op's samples, of which those that wait may be refused."""
    info, found = table[op], {}
    dtype = usual(info)
    assert dtype is not None
    with ag.device("/gpu:0"):
        for sample in info.samples(dtype, np.random.default_rng(1)):
            with suppress(*[ag.errors.InvalidArgumentError] if op in WAITING else []):
                for waits in calls(info, sample):
                    found.update(waits)
    return found


@pytest.mark.parametrize("op", OPS)
def test_no_op_waits_without_a_reason(op: str) -> None:
    waits = waits_of(op)
    if op in WAITING:
        print(f"cupy-on-numpy: {op} waits: {WAITING[op]}: {', '.join(waits)}")
    assert bool(waits) == (op in WAITING), waits


def test_each_reason_is_of_an_op() -> None:
    assert WAITING.keys() <= set(OPS)


SINGULAR = np.array([[1, 2], [2, 4]], "float32")
REFUSED = {
    "cholesky": (
        lambda: ag.cholesky(-SINGULAR),
        "cholesky: Cholesky decomposition was not successful. The input might not be valid.",
    ),
    "cholesky of several": (
        lambda: ag.cholesky(np.stack([np.eye(2, dtype="float32"), -SINGULAR])),
        "cholesky: Cholesky decomposition was not successful. The input might not be valid.",
    ),
    "matrix_inverse": (lambda: ag.matrix_inverse(SINGULAR), "matrix_inverse: Input is not invertible."),
    "matrix_solve": (
        lambda: ag.matrix_solve(np.stack([SINGULAR.T, SINGULAR]), np.ones((2, 2, 1), "float32")),
        "matrix_solve: Input matrix is not invertible.",
    ),
    "bincount": (
        lambda: ag.bincount(np.array([1, -2]), minlength=4, maxlength=4),
        "bincount: Input arr must be non-negative; got -2.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_told_when_somebody_waits(name: str) -> None:
    call, text = REFUSED[name]
    with ag.device("/gpu:0"):
        result = call()
    assert counting.waits == {}
    with says(ag.errors.InvalidArgumentError, text):
        result.numpy()


def test_counts_of_a_known_number_of_bins_wait_for_nothing() -> None:
    with ag.device("/gpu:0"):
        values = ag.constant([-1.0, 0.5, 0.7, 9.0])
        counting.reset()
        counts = ag.histogram_fixed_width(values, [0.0, 1.0], nbins=4)
    assert counting.waits == {}
    assert counts.numpy().tolist() == [1, 0, 2, 1]


SIZED = {
    "another's": lambda x: ag.reshape(x, ag.shape(ag.transpose(x))),
    "a number beside": lambda x: ag.reshape(x, [ag.shape(x)[0], -1]),
    "stacked": lambda x: ag.reshape(x, ag.stack([ag.shape(x)[1] * 2, -1])),
    "product": lambda x: ag.reshape(x, [ag.reduce_prod(ag.shape(x))]),
    "padding": lambda x: ag.pad(x, [[0, 8 - ag.shape(x)[0]], [0, 0]]),
    "slice": lambda x: ag.slice(x, [1, 0], ag.shape(x) // 2),
    "made": lambda x: ag.random_normal(ag.shape(x)) + ag.zeros(ag.shape(x)),
}


@pytest.mark.parametrize("name", SIZED)
def test_what_is_computed_of_shapes_waits_for_nothing(name: str) -> None:
    with ag.device("/gpu:0"):
        x = ag.constant(np.ones((4, 6), "float32"))
        counting.reset()
        y = SIZED[name](x)
    assert y.device.endswith("GPU:0")
    assert counting.waits == {}
    assert counting.uploads == {}


def test_what_another_thread_has_deferred_meanwhile_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: Any = defaultdict(deque)
    monkeypatch.setattr(value_checks, "_waiting", waiting)
    arrived = SimpleNamespace(done=False)

    def look(number: Any) -> None:
        raise InvalidArgumentError(f"{number} is wrong")

    waiting[0].append(value_checks._Waiting([np.array(5)], arrived, look, 0))
    assert value_checks.pending_error(0) is None  # its number is on the way, and the copy writes to its memory
    arrived.done = True
    assert value_checks.pending_error(0) == "5 is wrong"


def _gathered(index: int) -> ag.Tensor:
    with ag.device("/gpu:0"):
        return ag.gather(ag.constant([1.0, 2.0, 3.0]), ag.constant([0, index]))


SENTENCE = "gather: indices[1] = {} is not in [0, 3): params has shape (3,), and the axis is 0."


@pytest.mark.parametrize("wrong", [[0], [63], [64], [599], [700, 3], [3, 4, 5]], ids=str)
def test_the_first_wrong_index_of_many_calls_is_told_once(wrong: list[int]) -> None:
    for call in range(800):
        _gathered(7 + call if call in wrong else 1)
    with says(InvalidArgumentError, SENTENCE.format(7 + min(wrong))):
        get_device("gpu:0").synchronize()
    get_device("gpu:0").synchronize()
    assert _gathered(2).numpy().tolist() == [1, 3]


def test_a_wrong_index_of_another_thread_is_told_while_it_runs_and_after_it() -> None:
    told, goes_on = Event(), Event()

    def work() -> None:
        _gathered(8)
        told.set()
        goes_on.wait(10)
        _gathered(9)

    thread = Thread(target=work)
    thread.start()
    assert told.wait(10)
    with says(InvalidArgumentError, SENTENCE.format(8)):
        get_device("gpu:0").synchronize()
    goes_on.set()
    thread.join()
    with says(InvalidArgumentError, SENTENCE.format(9)):
        get_device("gpu:0").synchronize()
    get_device("gpu:0").synchronize()


def test_threads_that_ask_first_at_once_get_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(value_checks.ErrorWords):
        def __init__(self, index: int) -> None:
            super().__init__(index)
            sleep(0.05)

    monkeypatch.setattr(value_checks, "ErrorWords", Slow)
    monkeypatch.setattr(value_checks, "_error_words", {})
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda _: value_checks.error_words(0), range(8))]
    assert len({id(words) for words in found}) == 1


@pytest.mark.parametrize("is_gather_first", [True, False])
def test_errors_of_both_kinds_come_in_the_order_of_the_program(is_gather_first: bool) -> None:
    with ag.device("/gpu:0"):
        indefinite = ag.constant([[-1.0]])
    works = [lambda: _gathered(5), lambda: ag.cholesky(indefinite)]
    for work in works if is_gather_first else works[::-1]:
        work()
    refused = "cholesky: Cholesky decomposition was not successful. The input might not be valid."
    with says(InvalidArgumentError, SENTENCE.format(5) if is_gather_first else refused):
        get_device("gpu:0").synchronize()


def test_a_gather_waits_for_nothing_and_launches_one_kernel() -> None:
    with ag.device("/gpu:0"):
        params, indices = ag.constant([1.0, 2.0, 3.0]), ag.constant([0, 1])
        ag.gather(params, indices)
        counting.reset()
        for _ in range(100):
            ag.gather(params, indices)
    assert (counting.waits, sum(counting.launches.values())) == ({}, 100)
