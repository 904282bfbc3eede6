"""Speeds: how long a GPU and its host take, beside PyTorch where that is installed: ``python speeds.py FILE``.

FILE gets, as JSON, the card, versions, and for each row the seconds of agog and of PyTorch, the least of several.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import torch_steps
from training_steps import Training, convolutions, perceptron, recurrent

import agog as tf
from agog_core.dispatch.devices.lookup import get_device

TRAININGS = {
    "a step of a perceptron: 784, 256, 10; batch of 128": (lambda: perceptron(256), (128, 784)),
    "a step of a convolution of 32 filters; batch of 64, 28 by 28": (lambda: convolutions(32), (64, 28, 28, 1)),
    "a step of an LSTM of 128 units; batch of 64, 20 times 32": (lambda: recurrent(128), (64, 20, 32)),
}
Step = Callable[[], Any]
LAUNCH = "the host's time for a + b of 1,024 numbers"


def least(work: Step, wait: Callable[[], Any], times: int, repeats: int, is_waited_for: bool) -> float:
    """Seconds for once, the least of several repeats of so many times; of the host alone or until all is done."""
    work()  # kernels are compiled once
    found = []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        for _ in range(times):
            work()
        if is_waited_for:
            wait()
        found.append((time.perf_counter() - start) / times)
    return min(found)


def rows(times: int, repeats: int) -> Iterator[dict[str, Any]]:
    """Each row: its name, and the seconds of agog and of PyTorch, or None."""
    wait = get_device("gpu:0").synchronize

    def row(name: str, ours: Step, make_theirs: Callable[[], Step], times: int, is_waited_for: bool) -> dict[str, Any]:
        seconds = {"agog": least(ours, wait, times, repeats, is_waited_for), "torch": None}
        if torch_steps.available():
            seconds["torch"] = least(make_theirs(), torch_steps.wait, times, repeats, is_waited_for)
        return {"name": name} | seconds

    with tf.device("/gpu:0"):
        x = tf.constant(np.ones(1024, "float32"))
    yield row(LAUNCH, lambda: x + x, torch_steps.addition, 100 * times, is_waited_for=False)
    for (name, (network, batch)), make_theirs in zip(TRAININGS.items(), torch_steps.TRAININGS, strict=True):
        yield row(name, Training(network, batch, "/gpu:0").step, make_theirs, times, is_waited_for=True)


def main() -> None:
    """Measure, and write the file."""
    parser = argparse.ArgumentParser(description="Measure speeds of the device gpu.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--times", type=int, default=100, help="steps in a row")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--tf32", action="store_true", help="let products of float32 round to TF32, in PyTorch too")
    options = parser.parse_args()
    if options.tf32:
        tf.set_matmul_precision("tf32")
    torch_steps.allow_tf32(options.tf32)
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    runtime, driver = cupy.cuda.runtime.runtimeGetVersion(), cupy.cuda.runtime.driverGetVersion()
    facts = {
        "card": properties["name"].decode(),
        "versions": {"agog": tf.__version__, "CuPy": cupy.__version__, "CUDA": runtime, "driver's CUDA": driver},
        "torch": torch_steps.version(),
        "rows": list(rows(options.times, options.repeats)),
    }
    options.file.write_text(json.dumps(facts, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
