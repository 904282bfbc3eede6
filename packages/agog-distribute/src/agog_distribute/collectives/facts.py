"""Facts of the ops for the conformance kit, which runs in one process: each gives a copy of its input."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.errors import InvalidArgumentError
from agog_distribute.processes.groups import everybody
from agog_testing.opinfo import ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import uniform

# Before the kit looks at what a call leaves: to connect changes the handling of signals, once.
everybody()

# How the dtypes begin that have a reduction; all have the others.
_HAVE = {"mean": ("float", "bfloat", "complex"), **dict.fromkeys(("max", "min"), ("float", "bfloat", "int", "uint"))}
_ONES = np.ones(2, np.float32)


def _samples(*settings: dict[str, Any], scalars: bool = True) -> Callable[[str, np.random.Generator], Iterator[Sample]]:
    def samples(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in ((), (0,), (3,), (2, 5), (70,))[not scalars :]:
            for setting in settings:
                if dtype.startswith(_HAVE.get(setting.get("reduction", ""), "")):
                    yield Sample(f"shape {shape}, {setting}", (uniform(dtype, rng, shape),), setting)

    return samples


def _copy(x: Any, **settings: Any) -> Any:
    return np.array(x)


def _refused(arguments: tuple[Any, ...], settings: dict[str, Any], text: str) -> ErrorSample:
    return ErrorSample(arguments, settings, InvalidArgumentError, text)


_REDUCTIONS = tuple({"reduction": reduction} for reduction in ("sum", "mean", "max", "min"))
INFOS = (
    OpInfo(
        name="distribute_all_reduce",
        samples=_samples(*_REDUCTIONS),
        reference=_copy,
        errors=(
            _refused(
                (_ONES,), {"reduction": "or"}, "all_reduce: reduction must be 'sum', 'mean', 'max', 'min'; got 'or'."
            ),
        ),
    ),
    OpInfo(
        name="distribute_all_gather",
        samples=_samples({}, scalars=False),
        reference=_copy,
        errors=(
            _refused(
                (np.float32(1),),
                {},
                "all_gather: x must have an axis along which tensors can be joined; got a scalar.",
            ),
        ),
    ),
    OpInfo(
        name="distribute_reduce_scatter",
        samples=_samples(*_REDUCTIONS[:2], scalars=False),
        reference=_copy,
        errors=(
            _refused(
                (np.float32(1),),
                {},
                "reduce_scatter: x must have a first axis that 1 processes can divide; got shape ().",
            ),
        ),
    ),
    OpInfo(
        name="distribute_broadcast",
        samples=_samples({"root": 0}),
        reference=_copy,
        errors=(_refused((_ONES,), {"root": 1}, "broadcast: root must be a rank from 0 to 0; got 1."),),
    ),
    OpInfo(
        name="distribute_all_to_all",
        samples=_samples({}, scalars=False),
        reference=_copy,
        errors=(
            _refused(
                (np.float32(1),), {}, "all_to_all: x must have a first axis that 1 processes can divide; got shape ()."
            ),
        ),
    ),
)
