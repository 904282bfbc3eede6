"""Layer: names, building, weights, tracking of attributes, and what it keeps alive."""

from __future__ import annotations

import copy
import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.checkpointable import listeners
from agog_layers import BatchNormalization, Dense, Flatten, Layer
from agog_layers.naming.names import UniqueNames, snake_case
from agog_testing import says


class Scale(Layer):
    """One weight for each feature."""

    builds = 0

    def build(self, input_shape: Any) -> None:
        self.builds += 1
        self.factor = self.add_weight("factor", shape=input_shape[1:], initializer="ones")

    def call(self, inputs: Any, power: int = 1) -> Any:
        return inputs * self.factor**power


class Block(Layer):
    """Layers in all kinds of attributes, and a bare variable."""

    def __init__(self) -> None:
        super().__init__(name="block")
        self.first = Dense(2, use_bias=False, name="first")
        self.many = [Dense(2, use_bias=False, name="m0")]
        self.named = {"a": Dense(2, use_bias=False, name="a"), "b": (Dense(2, use_bias=False, name="b"),)}
        self.bare = ag.Variable(1.0, name="bare")
        self.counts = [1, 2]

    def call(self, inputs: Any) -> Any:
        x = self.first(inputs)
        for layer in self.many:
            x = layer(x)
        return self.named["b"][0](self.named["a"](x)) * self.bare


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Dense", "dense"),
        ("MyNetwork", "my_network"),
        ("MNISTModel", "mnist_model"),
        ("Conv2D", "conv2d"),
        ("Conv2DTranspose", "conv2d_transpose"),
        ("MaxPooling2D", "max_pooling2d"),
        ("LSTMCell", "lstm_cell"),
        ("GRU", "gru"),
        ("_Private", "private__private"),
    ],
)
def test_snake_case(name: str, expected: str) -> None:
    assert snake_case(name) == expected


def test_unique_names() -> None:
    names = UniqueNames()
    assert [names.unique("a"), names.unique("a"), names.unique("b")] == ["a", "a_1", "b"]
    assert names.unique("a", {"a_2", "a_3"}) == "a_4"


def test_layers_are_numbered() -> None:
    class OnlyHere(Layer):
        pass

    assert [OnlyHere().name for _ in range(3)] == ["only_here", "only_here_1", "only_here_2"]
    assert OnlyHere(name="x").name == "x"
    assert OnlyHere().name == "only_here_3"


def test_lazy_build() -> None:
    layer = Scale(name="s")
    assert not layer.built
    assert layer.variables == []
    y = layer(ag.constant([[2.0, 3.0]]), power=2)
    assert layer.built
    assert layer.builds == 1
    layer(ag.constant([[2.0, 3.0]]))
    assert layer.builds == 1
    assert y.numpy().tolist() == [[2.0, 3.0]]
    assert [v.name for v in layer.variables] == ["s/factor:0"]


@pytest.mark.parametrize("make", [np.float32, ag.Variable, ag.constant])
def test_what_can_be_converted_is_accepted(make: Any) -> None:
    assert Scale()(make([[2.0]])).numpy().tolist() == [[2.0]]


def test_structures_are_converted() -> None:
    class Add(Layer):
        def build(self, input_shape: Any) -> None:
            self.shapes = input_shape

        def call(self, inputs: Any) -> Any:
            return inputs["a"] + inputs["b"][0]

    layer = Add()
    assert layer({"a": np.ones(2), "b": (ag.ones([2], "float64"), None)}).numpy().tolist() == [2.0, 2.0]
    assert layer.shapes == {"a": ag.TensorShape([2]), "b": (ag.TensorShape([2]), None)}


def test_weights_are_floats_even_if_the_input_is_not() -> None:
    layer = Scale()
    layer.build(ag.TensorShape([None, 2]))
    assert layer.factor.dtype == ag.float32
    other = Scale()
    with pytest.raises(ag.errors.InvalidArgumentError):
        other(ag.constant([[1, 2]]))
    assert other.factor.dtype == ag.float32


def test_failed_build_leaves_the_layer_as_it_was() -> None:
    class Picky(Layer):
        def build(self, input_shape: Any) -> None:
            self.add_weight("w", shape=[2])
            if input_shape[-1] != 2:
                raise ValueError("two, please")

    layer = Picky()
    with pytest.raises(ValueError, match="two, please"):
        layer(ag.zeros([1, 3], "float64"))
    assert not layer.built
    assert layer.variables == []
    assert layer.dtype is None
    layer(ag.zeros([1, 2]))
    assert [v.dtype for v in layer.variables] == [ag.float32]


def test_weight_options() -> None:
    class Counter(Layer):
        def build(self, input_shape: Any) -> None:
            self.count = self.add_variable("count", [], "int64", trainable=False)
            self.w = self.add_weight("w", (2,), None, ag.zeros, lambda w: ag.reduce_sum(w), True, ag.nn.relu)
            self.default = self.add_weight("default", [100, 100])

    layer = Counter(name="c", dtype="float64")
    layer(ag.zeros([1, 1], "float64"))
    assert [v.name for v in layer.variables] == ["c/w:0", "c/default:0", "c/count:0"]
    assert layer.non_trainable_variables == [layer.count]
    assert layer.count.numpy() == 0
    assert layer.count.dtype == ag.int64
    assert layer.w.dtype == layer.default.dtype == ag.float64
    assert layer.w.constraint is ag.nn.relu
    assert [float(loss) for loss in layer.losses] == [0.0]
    assert np.abs(layer.default.numpy()).max() == pytest.approx(np.sqrt(6 / 200), rel=0.01)


def test_weight_errors() -> None:
    layer = Layer(name="l")
    with says(ValueError, "Layer layer 'l': the shape of weight 'w' must be fully known; got (?, 2)."):
        layer.add_weight("w", [None, 2])
    with says(TypeError, "Layer layer 'l': the regularizer of weight 'w' must be a function; got 2."):
        layer.add_weight("w", [2], regularizer=2)
    with says(TypeError, "Layer layer 'l': the constraint of weight 'w' must be a function; got 3."):
        layer.add_weight("w", [2], constraint=3)
    assert layer.variables == []


def test_parts_are_tracked() -> None:
    block = Block()
    block.many.append(Dense(2, use_bias=False, name="m1"))
    block(ag.zeros([1, 2]))
    assert [v.name for v in block.variables] == [
        "block/first/kernel:0",
        "block/m0/kernel:0",
        "block/m1/kernel:0",
        "block/a/kernel:0",
        "block/b/kernel:0",
        "bare:0",
    ]
    del block.many
    block.first = None  # type: ignore[assignment]
    assert [v.name for v in block.variables] == ["block/a/kernel:0", "block/b/kernel:0", "bare:0"]


def test_parts_are_counted_once() -> None:
    block = Block()
    block.again = block.first  # type: ignore[attr-defined]
    block.itself = block  # type: ignore[attr-defined]
    block.also = [block.bare, block.many]  # type: ignore[attr-defined]
    block(ag.zeros([1, 2]))
    assert len(block.variables) == 5


def test_freezing_a_part() -> None:
    block = Block()
    block(ag.zeros([1, 2]))
    before = list(map(id, block.variables))
    block.first.trainable = False
    assert block.non_trainable_variables == [block.first.kernel]
    assert len(block.trainable_variables) == 4
    assert list(map(id, block.variables)) == before
    block.trainable = False
    assert block.trainable_variables == []
    block.trainable = True
    assert block.non_trainable_variables == [block.first.kernel]


def test_checkpoint_dependencies() -> None:
    block = Block()
    assert list(block.checkpoint_dependencies()) == ["first", "many", "named", "bare"]
    block.later = []  # type: ignore[attr-defined]
    assert list(block.checkpoint_dependencies()) == ["first", "many", "named", "bare", "later"]
    scale = Scale()
    assert scale.checkpoint_dependencies() == {}
    scale(ag.zeros([1, 1]))
    assert scale.checkpoint_dependencies() == {"factor": scale.factor}


def test_weights_without_an_attribute_are_saved_by_name() -> None:
    layer = Layer()
    first, second, third = (layer.add_weight(name, [1]) for name in ("w", "w", "kernel"))
    layer.k = third  # type: ignore[attr-defined]
    assert layer.checkpoint_dependencies() == {"k": third, "w": first, "w_1": second}


def test_pending_restores_hear_of_a_build() -> None:
    heard: list[int] = []
    layer = Scale()
    listener = lambda *news: heard.append(len(layer.variables))  # noqa: E731
    listeners.append(listener)
    try:
        layer(ag.zeros([1, 1]))
    finally:
        listeners.remove(listener)
    assert heard
    assert heard[-1] == 1


def test_forgotten_init() -> None:
    class Forgetful(Layer):
        def __init__(self) -> None:
            self.dense = Dense(1)

    class Lazy(Layer):
        def __init__(self) -> None:
            self.units = 3
            self.sizes = [1, 2]
            self.empty: list[Any] = []

    text = (
        "It looks like you are subclassing `Layer` and you forgot to call `super().__init__()` in {}.__init__. "
        "Always start with this line."
    )
    with says(RuntimeError, text.format("Forgetful")):
        Forgetful()
    lazy = Lazy()
    uses: list[Any] = [
        lambda: lazy(ag.zeros([1])),
        lambda: lazy(np.zeros(1)),
        lambda: lazy.variables,
        lambda: lazy.name,
    ]
    for use in uses:
        with says(RuntimeError, text.format("Lazy")):
            use()


def test_parts_assigned_before_init_are_kept() -> None:
    class Early(Layer):
        def __init__(self) -> None:
            self.parts: list[Any] = []
            super().__init__()
            self.parts.append(Dense(1))

    early = Early()
    early.parts[0](ag.zeros([1, 1]))
    assert len(early.variables) == 2


def test_input_shape_arguments() -> None:
    assert Layer(input_shape=(2, 3)).batch_input_shape == ag.TensorShape([None, 2, 3])
    assert Layer(input_dim=4, batch_size=5).batch_input_shape == ag.TensorShape([5, 4])
    assert Layer(batch_input_shape=(1, None)).batch_input_shape == ag.TensorShape([1, None])
    assert Layer().batch_input_shape is None


def test_compute_output_shape_runs_the_layer() -> None:
    class Twice(Layer):
        def call(self, inputs: Any) -> Any:
            return ag.concat([inputs, inputs], -1)

    class Both(Layer):
        def call(self, inputs: Any) -> Any:
            return inputs[0], inputs[1]

    assert Twice().compute_output_shape([None, 3]) == ag.TensorShape([None, 6])
    assert Twice().compute_output_shape((2, 3)) == ag.TensorShape([2, 6])
    assert Both().compute_output_shape([(None, 3), ag.TensorShape([None, 4])]) == (
        ag.TensorShape([None, 3]),
        ag.TensorShape([None, 4]),
    )


def test_base_layer_is_the_identity() -> None:
    x = ag.zeros([1])
    assert Layer()(x) is x


def test_copies_are_independent() -> None:
    block = Block()
    block(ag.zeros([1, 2]))
    twin = copy.deepcopy(block)
    assert [v.name for v in twin.variables] == [v.name for v in block.variables]
    assert not {id(v) for v in twin.variables} & {id(v) for v in block.variables}
    np.testing.assert_array_equal(twin.first.kernel.numpy(), block.first.kernel.numpy())
    twin.first.kernel.assign_add(ag.ones([2, 2]))
    assert not np.array_equal(twin.first.kernel.numpy(), block.first.kernel.numpy())


def test_threads_build_once() -> None:
    layer, count = Scale(), 8
    barrier = threading.Barrier(count)

    def run() -> None:
        barrier.wait()
        layer(ag.zeros([1, 2]))

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert layer.builds == 1


def assert_leaves_little(run: Callable[[], Any], times: int) -> None:
    """Runs leave no objects behind, without the collector, for there are no cycles.

    They are counted three times at most: threads of the test runner may make some meanwhile, a leak does so each time.
    """

    def grown() -> int:
        before = len(gc.get_objects())
        for _ in range(times):
            run()
        return len(gc.get_objects()) - before

    for _ in range(3):
        run()
    gc.collect()
    gc.disable()
    try:
        assert any(grown() < 20 for _ in range(3))
    finally:
        gc.enable()


def test_nothing_is_left_of_layers() -> None:
    def run() -> None:
        block = Block()
        with ag.GradientTape() as tape:
            loss = ag.reduce_sum(block(ag.ones([1, 2])))
        tape.gradient(loss, block.trainable_variables)
        Flatten()(ag.ones([1, 2, 3]))

    assert_leaves_little(run, 100)


def test_calls_leave_no_objects() -> None:
    block = Block()
    x = ag.ones([1, 2])
    assert_leaves_little(lambda: block(x), 1000)


def test_layers_leave_no_updates_to_run() -> None:
    layer = BatchNormalization()
    layer(ag.ones([2, 3]), training=True)
    assert layer.updates == []
