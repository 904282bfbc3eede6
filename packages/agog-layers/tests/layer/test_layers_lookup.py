"""Lookup of layers: by name, and by what describes them, with classes of the program."""

from __future__ import annotations

from typing import Any

from agog_layers import Dense, Flatten, Layer
from agog_layers.layer.lookup import deserialize, get, serialize
from agog_layers.serialization.description import describe, deserialize_keras_object
from agog_testing import says


class Scale(Layer):
    def __init__(self, factor: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs: Any) -> Any:
        return inputs * self.factor


def test_layers_by_what_describes_them() -> None:
    again = deserialize(serialize(Dense(3, "relu", name="d")))
    assert (type(again), again.units, again.name) == (Dense, 3, "d")
    assert type(get("Flatten")) is type(get(Flatten)) is Flatten
    layer = Dense(2)
    assert get(layer) is layer


def test_layers_of_the_program() -> None:
    data = serialize(Scale(2.0))
    assert deserialize(data, custom_objects={"Scale": Scale}).factor == 2.0
    assert deserialize_keras_object(describe([Scale(3.0)]), custom_objects={"Scale": Scale})[0].factor == 3.0
    with says(TypeError, "A layer is a name, a function, or what serialize returned; got 3 of type int."):
        get(3)
