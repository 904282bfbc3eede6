"""A new op touches its block, its kernel, its facts and its counterpart, and the lists of their names: no more."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPS = "packages/agog-core/src/agog_core/ops/math/elementary.py"
KERNELS = "packages/agog-kernels-xp/src/agog_kernels_xp/math"
FACTS = "packages/agog-testing/src/agog_testing/opinfo/math/elementary.py"
ORACLE = "tests/oracle"

BLOCK = '''@unary(lambda g, x: multiply(g, multiply(square(x), 3)))
def cube(x: TensorLike, name: str | None = None) -> Tensor:
    """The third power, elementwise.

    Args:
        x: a tensor of numbers.

    Returns:
        ``x * x * x``, in the input's dtype.

    >>> print(cube([2.0, 3.0]))
    tf.Tensor([ 8. 27.], shape=(2,), dtype=float32)
    """


'''
KERNEL = '''

def cube(xp: Any, x: Array) -> Array:
    """Third power."""
    return x * x * x
'''

# File, a text in it, and what is put before that text.
INSERTIONS = [
    (OPS, '    "exp",\n', '    "cube",\n'),
    (OPS, "@unary(lambda g, out: realdiv(", BLOCK),
    (f"{KERNELS}/__init__.py", '"pow", "rsqrt",', '"cube", '),
    (f"{KERNELS}/elementary.py", "\n\ndef pow(", KERNEL),
    (FACTS, '    unary("sqrt",', '    unary("cube", lambda x: x**3, allowed=NUMERIC),\n'),
    (f"{ORACLE}/counterparts/math.py", '    "digamma":', '    "cube": lambda x: x**3,\n'),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with the new op; plugins are found by what is installed."""
    folder = tmp_path_factory.mktemp("repository")
    sources = [source.relative_to(ROOT) for group in ("packages", "plugins") for source in ROOT.glob(f"{group}/*/src")]
    for each in (*sources, Path(ORACLE)):
        shutil.copytree(ROOT / each, folder / each)
    for name, before, text in INSERTIONS:
        file = folder / name
        whole = file.read_text(encoding="utf-8")
        assert whole.count(before) >= 1, f"{name} does not contain {before!r}"
        file.write_text(whole.replace(before, text + before, 1), encoding="utf-8")
    return folder


def run(copy: Path, *arguments: str) -> str:
    """Run Python on the copy, and hand back what it printed."""
    sources = [str(source) for group in ("packages", "plugins") for source in copy.glob(f"{group}/*/src")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sources), "COLUMNS": "200", "AGOG_PLUGINS": "cpu-numpy"}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, cwd=copy, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("namespace", ["agog", "agog_core"])
def test_it_is_called_and_differentiated(copy: Path, namespace: str) -> None:
    program = f"""
import {namespace} as tf
from agog_core.gradients.functions import gradients_function

assert "{copy}" in tf.__file__
assert "cube" in dir(tf)
slope = gradients_function(lambda x: tf.cube(x))
curvature = gradients_function(lambda x: slope(x)[0])
print(float(tf.cube(2.0)), float(slope(2.0)[0]), float(curvature(2.0)[0]))
"""
    assert run(copy, "-c", program).split() == ["8.0", "12.0", "12.0"]


def test_it_is_listed_with_its_kernel(copy: Path) -> None:
    row = next(line for line in run(copy, "-m", "agog", "ops", "third power").splitlines() if "cube" in line)
    assert re.split(" {2,}", row)[:4] == ["cube", "The third power, elementwise.", "x", "x"]
    assert "cpu-numpy" in row


def test_it_conforms(copy: Path) -> None:
    output = run(copy, "-m", "agog_testing.conformance", "cpu-numpy", "--op", "cube", "--verbose")
    assert "cube/float64/gradient: passed" in output
    assert ", 0 failed" in output


@pytest.mark.skipif(find_spec("torch") is None, reason="the oracle is PyTorch, which is not installed")
def test_it_is_compared_with_pytorch(copy: Path) -> None:
    tests = f"{ORACLE}/test_oracle_torch.py"
    output = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests, "-k", "cube or every_op")
    assert "7 passed" in output
