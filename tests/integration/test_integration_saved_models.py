"""Saved models of all layers and of random functions: equal bits, also in a process without the classes."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog as tf
from agog_saved_model import load, save
from agog_testing.layers import called

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ROOT / "packages" / "agog-layers" / "tests" / "layer" / "test_layers_of_every_class.py"
SEEDS = range(30)

LOADS = """
import json, sys
import numpy as np
import agog_core as ag
from agog_core import nest
from agog_saved_model import load

for name in sys.argv[2:]:
    folder = f"{sys.argv[1]}/{name}"
    loaded = load(folder)
    given = np.load(folder + ".npz")
    arrays = [ag.constant(given[f"x{place}"]) for place in range(int(given["count"]))]
    found = loaded.f(*arrays)
    for place, leaf in enumerate(nest.flatten(found)):
        assert leaf.numpy().tobytes() == given[f"y{place}"].tobytes(), (name, place)
    for place, variable in enumerate(loaded.variables):
        assert variable.numpy().tobytes() == given[f"v{place}"].tobytes(), (name, "variable", place)
assert not {"agog", "agog_layers", "agog_training", "agog_keras"} & set(sys.modules)
print("all", len(sys.argv) - 2)
"""


def _cases() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("layers_of_every_class", LAYERS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: (module.CASES[name], module.inputs) for name in module.CASES}


CASES = _cases()


def _bits(value: Any) -> list[bytes]:
    return [leaf.numpy().tobytes() for leaf in tf.nest.flatten(value)]


@pytest.mark.parametrize("name", CASES)
def test_layers(name: str, tmp_path: Path) -> None:
    case, inputs_of = CASES[name]
    x = inputs_of(case)
    leaves = tf.nest.flatten(x)
    symbols = [tf.keras.Input(leaf.shape[1:], dtype=leaf.dtype.name) for leaf in leaves]
    given = symbols if isinstance(x, (list, tuple)) else symbols[0]
    model = tf.keras.Model(given, called(case.make(), given))
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    for count in (1, 3, 7):
        batch = [tf.constant(np.resize(leaf.numpy(), (count, *leaf.shape[1:]))) for leaf in leaves]
        batch = batch if isinstance(x, (list, tuple)) else batch[0]
        for training in (False, True):
            tf.set_random_seed(4)
            want = model(batch, training=training)
            tf.set_random_seed(4)
            assert _bits(loaded(batch, training=training)) == _bits(want), (count, training)
            for there, variable in zip(loaded.variables, model.variables, strict=True):
                assert there.numpy().tobytes() == variable.numpy().tobytes(), (count, training, variable.name)


UNARY: list[Callable[[Any], Any]] = [
    tf.tanh,
    tf.exp,
    tf.square,
    tf.nn.relu,
    tf.sigmoid,
    lambda x: x - tf.reduce_mean(x, 0),
    lambda x: tf.reshape(x, [-1, 3]),
    lambda x: tf.concat([x, x * 2.0], 0)[: tf.shape(x)[0]],
    lambda x: tf.transpose(tf.transpose(x)),
    lambda x: tf.cumsum(x, 0),
    lambda x: tf.where(x > 0.1, x, -x),
    lambda x: x[::-1],
    lambda x: tf.sort(x, axis=0),
    lambda x: tf.one_hot(tf.argmax(x, 1), 3),
    lambda x: tf.nn.softmax(x),
    lambda x: x / tf.cast(tf.shape(x)[0], tf.float32),
    lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 0.5, lambda: x + 1.0),
    lambda x: tf.while_loop(
        lambda i, y: i + tf.reduce_sum(y) < 4.0, lambda i, y: (i + 1.0, tf.abs(y) * 1.25), [tf.constant(0.0), x]
    )[1],
    lambda x: tf.map_fn(lambda row: row * row[0], x),
    lambda x: tf.scan(lambda total, row: total * 0.5 + row, x),
    lambda x: x * 2.0 if tf.reduce_max(x) > 0.5 else x - 0.5,
]
BINARY: list[Callable[[Any, Any], Any]] = [
    tf.add,
    tf.multiply,
    tf.maximum,
    lambda x, y: tf.matmul(x, y, transpose_b=True)[:, :1] + y,
    lambda x, y: tf.squared_difference(x, y),
]


class Random(tf.Module):
    """A function of random steps, which reads and writes variables and returns a random structure."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        source = random.Random(seed)
        self.weights = [tf.Variable(np.full((3, 3), source.random() - 0.5, "f")) for _ in range(source.randrange(3))]
        self.total = tf.Variable(0.0, trainable=False)
        steps = [(source.random(), source.randrange(10**6)) for _ in range(source.randrange(2, 9))]
        form = source.randrange(4)
        arguments = source.randrange(1, 3)

        def f(*xs: Any) -> Any:
            values = list(xs)
            for kind, number in steps:
                x = values[number % len(values)]
                if kind < 0.55:
                    values.append(UNARY[number % len(UNARY)](x))
                elif kind < 0.75:
                    values.append(BINARY[number % len(BINARY)](x, values[-1]))
                elif kind < 0.9 and self.weights:
                    values.append(tf.matmul(x, self.weights[number % len(self.weights)]))
                else:
                    self.total.assign_add(tf.reduce_mean(x))
            last = values[-1]
            forms = [last, [last, self.total.value()], {"a": last, "b": (values[0], last)}, (last, {"t": [self.total]})]
            return forms[form]

        parameters = ", ".join(f"x{place}" for place in range(arguments))
        scope: dict[str, Any] = {"f": f}
        exec(f"def g({parameters}): return f({parameters})", scope)
        self.f = tf.function(scope["g"], input_signature=[tf.TensorSpec([None, 3])] * arguments)
        self.count = arguments


def test_random_functions_in_a_process_without_their_classes(tmp_path: Path) -> None:
    names = []
    for seed in SEEDS:
        module = Random(seed)
        save(module, tmp_path / str(seed))
        loaded = load(tmp_path / str(seed))
        numbers = np.random.default_rng(seed)
        for rows in (5, 2, 9):
            xs = [tf.constant(numbers.normal(size=(rows, 3)).astype("f")) for _ in range(module.count)]
            want, have = module.f(*xs), loaded.f(*xs)
            assert _bits(have) == _bits(want), (seed, rows)
        found = {f"y{place}": leaf.numpy() for place, leaf in enumerate(tf.nest.flatten(module.f(*xs)))}
        arrays = {f"x{place}": x.numpy() for place, x in enumerate(xs)}
        for there, variable in zip(loaded.variables, module.variables, strict=True):
            there.assign(variable)
        save(loaded, tmp_path / str(seed))  # what was loaded is saved again
        found = {f"y{place}": leaf.numpy() for place, leaf in enumerate(tf.nest.flatten(module.f(*xs)))}
        after = {f"v{place}": variable.numpy() for place, variable in enumerate(module.variables)}
        np.savez(tmp_path / f"{seed}.npz", count=module.count, **arrays, **found, **after)
        names.append(str(seed))
    done = subprocess.run([sys.executable, "-c", LOADS, tmp_path, *names], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"all {len(names)}\n", "")


class Texts(tf.Module):
    """Tables, vocabularies and functions of texts."""

    def __init__(self) -> None:
        super().__init__()
        entries = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        self.table = tf.lookup.StaticHashTable(entries, -1)
        self.names = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], ["one", "two"]), "?")
        self.numbers = tf.keras.layers.StringLookup(vocabulary=["a", "c"], num_oov_indices=2, output_mode="multi_hot")
        self.back = tf.keras.layers.StringLookup(vocabulary=["a", "c"], invert=True)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def f(self, x: Any) -> Any:
        tf.debugging.assert_equal(tf.size(x), tf.size(x))
        found = self.table.lookup(tf.strings.lower(x))
        texts = tf.strings.join([tf.strings.upper(x, encoding="utf-8"), "!"])
        return found, self.names.lookup(found), self.numbers(x), self.back(tf.cast(found, tf.int64)), texts


def test_tables_and_texts(tmp_path: Path) -> None:
    module = Texts()
    save(module, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    for texts in (["a", "B", "c"], ["\u00fc"], []):
        x = tf.constant(texts, tf.string)
        for want, have in zip(module.f(x), loaded.f(x), strict=True):
            assert want.numpy().tolist() == have.numpy().tolist()
    assert loaded.f(tf.constant(["A", "x"]))[1].numpy().tolist() == [b"one", b"?"]
