"""The lists of kernels are complete, and reading them imports no array library."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import agog_core  # noqa: F401  (it registers the ops)
import agog_kernels_xp
from agog_core.dispatch.op import all_ops

COMPOSED = [(family, op) for family, ops in agog_kernels_xp.COMPOSED.items() for op in ops]


def test_every_op_has_a_kernel() -> None:
    assert sorted(agog_kernels_xp.NAMES) == sorted(all_ops())


def test_no_op_is_listed_twice() -> None:
    assert len(set(agog_kernels_xp.NAMES)) == len(agog_kernels_xp.NAMES)


@pytest.mark.parametrize(("op", "name"), agog_kernels_xp.ELEMENTWISE.items())
def test_elementwise_kernels_are_functions_of_the_array_library(op: str, name: str) -> None:
    assert isinstance(getattr(np, name), np.ufunc)
    assert getattr(np, name).nin == len(all_ops()[op].inputs)


@pytest.mark.parametrize(("family", "op"), COMPOSED)
def test_composed_kernels_are_documented_functions(family: str, op: str) -> None:
    kernel = getattr(import_module(f"agog_kernels_xp.{family}"), op)
    parameters = list(inspect.signature(kernel).parameters.values())
    assert parameters[0].name == "xp"
    assert inspect.getdoc(kernel)
    first = 2 if parameters[1].name == "bits" else 1  # the source of random bits comes after the array library
    arrays = [p for p in parameters[first:] if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
    assert len(arrays) == len(all_ops()[op].inputs)
    assert (arrays and arrays[0].kind is inspect.Parameter.VAR_POSITIONAL) == all_ops()[op].variadic or not arrays


def test_modules_hold_no_other_public_functions() -> None:
    for family, ops in agog_kernels_xp.COMPOSED.items():
        module = import_module(f"agog_kernels_xp.{family}")
        public = [n for n, f in inspect.getmembers(module, inspect.isfunction) if f.__module__ == module.__name__]
        assert {name for name in public if not name.startswith("_")} == set(ops)


def test_importing_imports_no_array_library() -> None:
    program = "import sys, agog_kernels_xp; print({'numpy', 'cupy', 'ml_dtypes', 'agog_core'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_kernels_name_no_array_library() -> None:
    """They take it as an argument; what they import of agog brings NumPy for its own sake."""
    for family in agog_kernels_xp.COMPOSED:
        source = inspect.getsource(import_module(f"agog_kernels_xp.{family}"))
        assert "import numpy" not in source
        assert "np." not in source
