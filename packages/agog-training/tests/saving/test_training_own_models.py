"""Models of the program's own classes: files keep what their constructors were given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense, Dropout, Identity, Input, Layer
from agog_testing import says
from agog_training import Model, Sequential, load_model
from agog_training.callbacks import ModelCheckpoint

X = np.random.RandomState(0).rand(8, 3).astype("float32")
Y = X.sum(axis=1, keepdims=True)


class Perceptron(Model):
    """What it is given is kept, though its attributes of these names are something else."""

    def __init__(self, hidden: int, activation: Any = ag.nn.relu, rates: Any = (0.5, 0.25), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.hidden = Dense(hidden, activation=activation)
        self.drops = [Dropout(rate) for rate in rates]
        self.last = Dense(1)

    def call(self, inputs: Any, training: Any = False) -> Any:
        x = self.hidden(inputs)
        for drop in self.drops:
            x = drop(x, training=training)
        return self.last(x)


class Pile(Sequential):
    """A Sequential that makes its layers itself."""

    def __init__(self, sizes: Any, **kwargs: Any) -> None:
        super().__init__([Dense(size) for size in sizes], **kwargs)


class Functional(Model):
    """A functional model that makes its layers itself."""

    def __init__(self, units: int) -> None:
        x = Input((3,))
        super().__init__(x, Dense(1)(Dense(units)(x)))


class WithOptions(Model):
    """Options without names of their own, and arguments that layers have too."""

    def __init__(self, input_dim: int, layers: int, **options: Any) -> None:
        super().__init__(name=options.get("name"))
        self.parts = [Dense(options["units"], activation=options.get("activation")) for _ in range(layers)]
        self.first = Dense(input_dim)

    def call(self, inputs: Any) -> Any:
        x = self.first(inputs)
        for part in self.parts:
            x = part(x)
        return x


class Around(Model):
    """A model that is given a layer, and keeps it under its name."""

    def __init__(self, block: Any) -> None:
        super().__init__()
        self.block = block

    def call(self, inputs: Any) -> Any:
        return self.block(inputs)


MAKERS: dict[str, Any] = {
    "Perceptron": lambda: Perceptron(4, "tanh", rates=[0.1], name="mine"),
    "defaults": lambda: Perceptron(np.int64(4)),
    "Pile": lambda: Pile((4, 1), name="pile"),
    "Functional": lambda: Functional(4),
    "WithOptions": lambda: WithOptions(5, 2, units=1, activation="relu", name="options"),
    "Around": lambda: Around(Sequential([Dense(4), Identity(), Dense(1)])),
}
CLASSES = {cls.__name__: cls for cls in (Perceptron, Pile, Functional, WithOptions, Around)}


@pytest.mark.filterwarnings("ignore::agog_checkpoint.warning.CheckpointWarning")
@pytest.mark.parametrize("name", MAKERS)
def test_a_model_is_saved_and_loaded(name: str, tmp_path: Path) -> None:
    model = MAKERS[name]()
    model.compile("adam", "mse", ["mae"])
    best = tmp_path / "best.keras"
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[ModelCheckpoint(best, monitor="loss", save_best_only=True)])
    loaded = load_model(best, custom_objects=CLASSES)
    assert type(loaded) is type(model)
    model.save(tmp_path / "last.agog")
    loaded = load_model(tmp_path / "last.agog", custom_objects=CLASSES)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.get_config() == model.get_config()
    assert loaded.evaluate(X, Y, verbose=0) == model.evaluate(X, Y, verbose=0)


def test_what_is_kept() -> None:
    model = Perceptron(4, ag.nn.relu, rates=(0.1, 0.2), name="mine", trainable=False)
    expected = {"hidden": 4, "activation": "relu", "rates": [0.1, 0.2], "name": "mine", "trainable": False}
    assert {**model.get_config(), "dtype": None} == {**expected, "dtype": None}
    assert Pile([2, 1], name="pile").get_config() == {"sizes": [2, 1], "name": "pile"}
    assert Functional(4).get_config() == {"units": 4}


def test_a_name_is_no_class() -> None:
    class Scale(Layer):
        def call(self, inputs: Any) -> Any:
            return inputs

    model = Sequential([Scale(name="Scale", input_shape=(3,))])
    with ag_scope({"Scale": Scale}):
        assert Sequential.from_config(model.get_config()).layers[0].name == "Scale"


def ag_scope(objects: Any) -> Any:
    from agog_layers.serialization.custom_objects import custom_object_scope

    return custom_object_scope(objects)


def cannot_be_kept(model: Any, text: str, path: Path) -> None:
    model.build((None, 3))
    with says(NotImplementedError, text):
        model.save(path / "m.agog")
    assert not (path / "m.agog").exists()


def test_arguments_without_names(tmp_path: Path) -> None:
    class Units(Model):
        def __init__(self, *units: int) -> None:
            super().__init__()
            self.parts = [Dense(unit) for unit in units]

        def call(self, inputs: Any) -> Any:
            return self.parts[0](inputs)

    text = (
        "Units.get_config: the constructor takes *units, and a description has arguments by name alone; take a list in "
        "its place, or implement get_config and from_config."
    )
    cannot_be_kept(Units(3, 4), text, tmp_path)


def test_arguments_that_are_no_data(tmp_path: Path) -> None:
    class Called(Model):
        def __init__(self, function: Any, kept: bool = False) -> None:
            super().__init__()
            self.last = Dense(1)
            if kept:
                self.function = function

        def call(self, inputs: Any) -> Any:
            return self.last(inputs)

    function = object()
    text = (
        "Called.get_config: no attribute 'function' keeps the constructor's argument of that name; assign it in "
        "__init__, or implement get_config."
    )
    cannot_be_kept(Called(function), text, tmp_path)
    text = (
        f"Called.get_config: function is {function!r} of type object, which is no data; a function has a description "
        "only if tf.keras knows it by name. Implement get_config and from_config."
    )
    cannot_be_kept(Called(function, kept=True), text, tmp_path)
