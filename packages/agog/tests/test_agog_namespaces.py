"""The umbrella: which names it has, where they come from, and that importing it does no work."""

from __future__ import annotations

import ast
import importlib
import rlcompleter
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import agog as tf
import agog.eager as tfe
import agog_core
from agog_testing import says

PACKAGE = Path(tf.__file__).parent
MODULES = sorted(
    ".".join(["agog", *file.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    for file in PACKAGE.rglob("*.py")
    # Without the command, which has no names for programs.
    if file.name != "__main__.py" and "commands" not in file.relative_to(PACKAGE).parts
)

FOREIGN = {"agog.io.gfile": {"join"}, "agog.test": {"mock"}}  # os.path's and unittest's


def is_foreign(value: Any) -> bool:
    """Whether a value is what a namespace imports for itself, such as `sys`, `typing.Any` or `typing.TYPE_CHECKING`."""
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return isinstance(value, bool) or not (home or "agog").startswith(("agog", "absl."))  # whose flags are tf.flags


@pytest.mark.parametrize("name", MODULES)
def test_namespaces_list_what_they_offer_and_nothing_else(name: str) -> None:
    module = importlib.import_module(name)
    offered = sorted(each for each in module.__all__ if not each.startswith("_"))
    assert [each for each in dir(module) if not each.startswith("_")] == offered
    assert [each for each in module.__all__ if not hasattr(module, each)] == []
    assert {each for each in offered if is_foreign(getattr(module, each))} == FOREIGN.get(name, set())
    brought: dict[str, Any] = {}
    exec(f"from {name} import *", brought)
    assert sorted(brought.keys() - {"__builtins__"}) == sorted(module.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_namespaces_define_nothing_themselves(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__file__ is not None
    body = ast.parse(Path(module.__file__).read_text()).body
    assert not [node for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]


@pytest.mark.parametrize(
    ("text", "completion"),
    [
        ("tf.ker", "tf.keras"),
        ("tf.nn", "tf.nn"),
        ("tf.dat", "tf.data"),
        ("tf.data.TFR", "tf.data.TFRecordDataset"),
        ("tf.keras.data", "tf.keras.datasets"),
        ("tf.image.decode_p", "tf.image.decode_png"),
        ("tf.train.Exa", "tf.train.Example"),
        ("tf.contrib.ea", "tf.contrib.eager"),
        ("tf.get_var", "tf.get_variable"),
    ],
)
def test_tab_completes(text: str, completion: str) -> None:
    completer = rlcompleter.Completer({"tf": tf})
    found = [completer.complete(text, state) for state in range(3)]
    assert completion in [each.rstrip("()") for each in found if each is not None]


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
    with says(AttributeError, "module 'agog.keras.datasets' has no attribute 'no_such_name'"):
        tf.keras.datasets.no_such_name  # noqa: B018  # the access is what is tested


def test_an_unknown_name_is_an_attribute_error() -> None:
    with says(AttributeError, "module 'agog' has no attribute 'no_such_name'"):
        tf.no_such_name  # noqa: B018  # the access is what is tested


def test_importing_loads_no_plugin_and_nothing_slow() -> None:
    slow = ["pluggy", "agog_cpu_numpy", "safetensors", "ml_dtypes", "unittest", "logging", "click", "rich", "tqdm"]
    slow += ["agog_layers", "agog_data", "copy", "dataclasses", "inspect", "pathlib", "traceback"]
    program = "import sys, numpy; early = {*sys.modules}; import agog; print(*({*sys.modules} - early))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {*slow} & {*done.stdout.split()} == set()


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
    "TensorLike": "a type for annotations",
    "functions_run_eagerly": "tf.config",
    "run_functions_eagerly": "tf.config",
}


def test_everything_public_of_the_core_is_here() -> None:
    assert {name for name in agog_core.__all__ if not hasattr(tf, name)} == set(ELSEWHERE)
    assert [name for name, place in ELSEWHERE.items() if place == "tfe" and not hasattr(tfe, name)] == []
