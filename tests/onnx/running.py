"""Running: the results of onnxruntime beside agog's, at several sizes of the batch."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

import agog as tf

ROOT = Path(__file__).parents[2]
BATCHES = (1, 2, 33)


def module(file: Path) -> ModuleType:
    """A file of the repository, imported."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = found
    spec.loader.exec_module(found)
    return found


def change(variables: Sequence[Any]) -> None:
    """Give variables of floats values of which none is 0 or 1; variances, which are 1 at first, stay positive."""
    rng = np.random.default_rng(1)
    for variable in variables:
        if variable.dtype.is_floating:
            noise = rng.normal(0, 0.03, variable.shape.as_list())
            variable.assign(variable.numpy() + noise.astype(variable.dtype.numpy_dtype))


def check(target: Any, examples: Callable[[int], list[np.ndarray[Any, Any]]], call: Callable[..., Any]) -> None:
    """Export with an open batch, and compare the results at three batches within 1e-5 of the largest value."""
    specs = [tf.TensorSpec([None, *x.shape[1:]], x.dtype, f"x{n}") for n, x in enumerate(examples(2))]
    model = tf.export.onnx(target, None, specs)
    onnx.checker.check_model(model, full_check=True)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for batch in BATCHES:
        given = examples(batch)
        want = [x.numpy() for x in tf.nest.flatten(call(*map(tf.constant, given)))]
        used = {x.name for x in session.get_inputs()}
        got = session.run(None, {f"x{n}": x for n, x in enumerate(given) if f"x{n}" in used})
        for one, other in zip(got, want, strict=True):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            scale = max(1.0, float(np.abs(other).max(initial=0)))
            np.testing.assert_allclose(one / scale, other / scale, rtol=0, atol=1e-5)
