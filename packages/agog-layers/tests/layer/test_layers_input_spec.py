"""What layers say of their inputs is checked in each call."""

from __future__ import annotations

from typing import Any

import pytest

import agog_core as ag
from agog_layers import Dense, InputSpec, Layer
from agog_testing import says


@pytest.mark.parametrize(
    ("spec", "fits", "fails", "expected"),
    [
        (InputSpec(ndim=2), (3, 4), (3,), "ndim=2"),
        (InputSpec(max_ndim=1), (3,), (3, 4), "max_ndim=1"),
        (InputSpec(min_ndim=2), (3, 4, 5), (3,), "min_ndim=2"),
        (InputSpec(axes={-1: 2, 0: None}), (7, 2), (7, 3), "axis -1 of size 2"),
        (InputSpec(shape=(None, 3)), (9, 3), (9, 4), "shape=(?, 3)"),
        (InputSpec(shape=(None, 3)), (9, 3), (3,), "ndim=2"),
    ],
)
def test_inputs_are_checked(spec: InputSpec, fits: Any, fails: Any, expected: str) -> None:
    layer = Layer(name="checked")
    layer.input_spec = spec
    for _ in range(2):  # also once it is built
        layer(ag.zeros(fits))
        with says(
            ValueError,
            f"Input 0 of Layer layer 'checked' is incompatible with the layer: expected {expected}, found "
            f"ndim={len(fails)}, shape={ag.TensorShape(fails)}, dtype=float32.",
        ):
            layer(ag.zeros(fails))


def test_dtypes_and_several_inputs() -> None:
    layer = Layer(name="two")
    layer.input_spec = [InputSpec(dtype="float32"), None]
    layer([ag.zeros([1]), ag.zeros([1], "int32")])
    with pytest.raises(ValueError, match=r"^Input 0 of .* expected dtype=float32, found ndim=1, .* dtype=int32\.$"):
        layer([ag.zeros([1], "int32"), ag.zeros([1])])
    with says(ValueError, "Layer layer 'two' expects 2 inputs, but it received 1."):
        layer([ag.zeros([1])])


def test_a_spec_of_build_holds_for_the_first_call() -> None:
    class Late(Layer):
        def build(self, input_shape: Any) -> None:
            self.input_spec = InputSpec(ndim=1)
            super().build(input_shape)

    with pytest.raises(ValueError, match="expected ndim=1, found ndim=2"):
        Late()(ag.zeros([1, 1]))


def test_older_names() -> None:
    dense = Dense(2, kernel_initializer="ones")
    assert dense.apply(ag.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]
    assert dense.input_spec is None
    made = Layer(name="holder").add_variable("v", [2], initializer="zeros", synchronization=None, aggregation=None)
    assert (made.name, made.shape.as_list()) == ("holder/v:0", [2])
    assert repr(InputSpec(dtype="int32", shape=(None, 2))) == "InputSpec(dtype='int32', shape=(None, 2), ndim=2)"
