"""Facts of the op for the conformance kit: samples of its calls, a reference, and a call that fails."""

from collections.abc import Iterator

import numpy as np

from agog_core.plugin import InvalidArgumentError
from agog_testing.opinfo import ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import uniform


def _samples(dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for shape in ((), (0,), (3,), (2, 5), (70,)):
        for cap in (0.5, 30.0):
            yield Sample(f"shape {shape}, cap {cap}", (uniform(dtype, rng, shape),), {"cap": cap})


INFOS = (
    OpInfo(
        name="softcap",
        samples=_samples,
        reference=lambda x, cap: cap * np.tanh(x / cap),
        errors=(
            ErrorSample(
                (np.float32([1.0]),),
                {"cap": 0.0},
                InvalidArgumentError,
                "softcap: cap must be positive; got 0.0.",
            ),
        ),
    ),
)
