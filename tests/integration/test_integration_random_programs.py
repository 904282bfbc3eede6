"""Random programs, as users write them, do traced what they do eagerly: values, gradients, errors, and what they leave.

AGOG_RANDOM_PROGRAMS sets how many there are, AGOG_RANDOM_SEED where they begin. Half of them have large arrays, and run
with the compilers that are installed. A failure prints a shortened program, and how to run it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import agog_core as tf
from agog_optimizers import AdamOptimizer
from agog_testing.programs import check_program
from agog_testing.programs.ways import WAYS, running

COUNT = int(os.environ.get("AGOG_RANDOM_PROGRAMS", "200"))
FIRST = int(os.environ.get("AGOG_RANDOM_SEED", "0"))
PARTS = 8  # the first half of large arrays


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large, way = part < PARTS // 2, WAYS[part % len(WAYS)]
    if large and way not in ("compilers", "nodes"):
        way = "compilers"
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path))
    with running(way):
        for number in range(FIRST + part, FIRST + COUNT, PARTS):
            found = check_program(number, large)
            assert found is None or found.kind != "sums", found


def test_a_step_behind_a_branch_on_what_python_returns() -> None:
    found = []
    for wrap in (lambda f: f, tf.function):
        v, optimizer = tf.Variable(1.0), AdamOptimizer(0.05)

        def step(x: Any, v: Any = v, optimizer: Any = optimizer) -> None:
            y = tf.py_func(lambda a: a * 2, [x], x.dtype)
            if tf.reduce_max(y) >= 0.0:
                v.assign_add(1.0)
            with tf.GradientTape() as tape:
                loss = tf.square(v)
            optimizer.apply_gradients([(tape.gradient(loss, v), v)])

        call = wrap(lambda x, step=step: step(x))
        with running("compilers"):
            for number in (1.0, 2.0, -1.0, 3.0, -2.0):
                call(tf.constant([number]))
        found.append(v.numpy().tobytes())
    assert found[0] == found[1]
