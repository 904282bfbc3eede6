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
from agog_testing.random_programs import check_program, difference_of
from agog_testing.random_programs.executors import WAYS, running

COUNT = int(os.environ.get("AGOG_RANDOM_PROGRAMS", "64"))
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


# Two groups, with a branch and a random number between them, each of which needed a part of the other.
NEEDING_EACH_OTHER = """
import agog_core as tf
from agog_testing.random_programs.runtime import data

def program(see):
    v = tf.Variable(data(1, [3]))

    @tf.function
    def f(x):
        a = tf.abs(x)
        b = a * 2.0 if tf.reduce_sum(a) > 0.0 else a - 1.0
        c = tf.minimum(v, v)
        return c * b, c + tf.random_normal([3])

    for number in (3, 5, 3):
        see(*f(data(number, [1, 3])))
"""


def test_groups_that_need_each_other_are_run_in_some_order() -> None:
    with running("compilers"):
        assert difference_of(NEEDING_EACH_OTHER) is None
