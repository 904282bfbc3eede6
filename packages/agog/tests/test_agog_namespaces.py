"""The umbrella: which names it has, where they come from, and that importing it does no work."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
import agog_core

PACKAGE = Path(tf.__file__).parent
MODULES = sorted(
    ".".join(["agog", *file.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    for file in PACKAGE.rglob("*.py")
    if file.name not in ("__main__.py", "checkpoint_command.py")  # the command, which has no names for programs
)


def tree_of(module: ModuleType) -> ast.Module:
    assert module.__file__ is not None
    return ast.parse(Path(module.__file__).read_text())


@pytest.mark.parametrize("name", MODULES)
def test_every_name_is_an_explicit_re_export(name: str) -> None:
    module = importlib.import_module(name)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree_of(module))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert set(module.__all__) <= imported, "a name in __all__ is not imported by name"
    assert not [node for node in tree_of(module).body if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize("name", MODULES)
def test_every_name_exists(name: str) -> None:
    module = importlib.import_module(name)
    assert [each for each in module.__all__ if not hasattr(module, each)] == []


@pytest.mark.parametrize("name", ["layers", "keras", "nn", "train", "data", "losses", "errors", "test", "contrib"])
def test_namespaces_are_attributes(name: str) -> None:
    assert getattr(tf, name) is importlib.import_module(f"agog.{name}")


def test_contrib_eager_is_eager() -> None:
    assert tf.contrib.eager is tfe
    assert importlib.import_module("agog.contrib.eager") is tfe


def test_readers_of_databases_are_imported_where_they_are_used() -> None:
    names = "[name for name in sys.modules if name.startswith('agog_data.datasets')]"
    program = f"import sys, agog as tf; print(len(tf.keras.__all__), {names}); tf.keras.datasets.mnist.load_data"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"{len(tf.keras.__all__)} []\n"
    with pytest.raises(AttributeError) as error:
        tf.keras.datasets.no_such_name  # noqa: B018  # the access is what is tested
    assert str(error.value) == "module 'agog.keras.datasets' has no attribute 'no_such_name'"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError) as error:
        tf.no_such_name  # noqa: B018  # the access is what is tested
    assert str(error.value) == "module 'agog' has no attribute 'no_such_name'"


def test_importing_loads_no_plugin_and_nothing_slow() -> None:
    slow = ["pluggy", "agog_cpu_numpy", "safetensors", "ml_dtypes", "unittest", "logging", "click", "rich", "tqdm"]
    slow += ["agog_layers", "agog_data", "copy", "dataclasses", "inspect", "pathlib", "traceback"]
    program = "import sys, numpy; early = {*sys.modules}; import agog; print(*({*sys.modules} - early))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {*slow} & {*done.stdout.split()} == set()


class ExampleTest(tf.test.TestCase):
    """What users derive from `tf.test.TestCase`."""

    def test_numbers_are_seeded(self) -> None:
        first = tf.random_uniform([3]).numpy()
        self.setUp()
        self.assertAllEqual(first, tf.random_uniform([3]))

    def test_comparisons(self) -> None:
        self.assertAllEqual(tf.constant([1, 2]), [1, 2])
        self.assertAllClose([tf.constant(1.0), tf.constant([2.0])], [np.float32(1), np.float32([2])])
        self.assertNotAllClose(tf.constant(1.0), 2.0)
        self.assertNear(tf.constant(1.0), 1.01, 0.1)
        assert self.evaluate({"a": tf.constant(3)}) == {"a": 3}

    def test_failures(self) -> None:
        for compare in (self.assertAllEqual, self.assertAllClose):
            with pytest.raises(AssertionError):
                compare([1.0, 2.0], [1.0, 3.0])
            with pytest.raises(AssertionError, match=r"^The shapes \(1,\) and \(2,\) differ\.$"):
                compare([1.0], [1.0, 1.0])
        with pytest.raises(AssertionError, match=r"^The two values are close:\n1\.0\n1\.0$"):
            self.assertNotAllClose(1.0, 1.0)
        with pytest.raises(AssertionError, match=r"^1\.0 and 2\.0 differ by more than 0\.5\.$"):
            self.assertNear(1.0, 2.0, 0.5)


# What agog-core exports and `tf` has elsewhere, or not at all.
ELSEWHERE = {
    "ForwardAccumulator": "tfe",
    "hessian_function": "tfe",
    "jvp": "tfe",
    "Checkpointable": "tfe",
    "gradients_function": "tfe",
    "implicit_gradients": "tfe",
    "implicit_value_and_gradients": "tfe",
    "list_devices": "tfe",
    "value_and_gradients_function": "tfe",
    "why_none": "tfe",
    "count_devices": "tfe.num_gpus is for GPUs; the count of other types is not TensorFlow's",
    "nest": "not TensorFlow's public API",
    "TensorLike": "a type for annotations",
}


def test_everything_public_of_the_core_is_here() -> None:
    assert {name for name in agog_core.__all__ if not hasattr(tf, name)} == set(ELSEWHERE)
    assert [name for name, place in ELSEWHERE.items() if place == "tfe" and not hasattr(tfe, name)] == []
