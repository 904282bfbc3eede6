"""Models as programs of Keras 2 make them: built without sizes, popped, cut in the middle, and masked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.indexing.embedding import embedding_lookup
from agog_layers import (
    Conv2D,
    Dense,
    Embedding,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    Input,
    Lambda,
    Layer,
    Masking,
    Model,
    Sequential,
)
from agog_layers.calls.learning_phase import learning_phase
from agog_layers.merging import Add
from agog_layers.models.function import function
from agog_testing import says


class Two(Layer):
    """Returns two tensors."""

    def call(self, inputs: Any) -> Any:
        return [3 * inputs, 2 * inputs]


def test_unknown_sizes_fit_a_window() -> None:
    model = Sequential([Conv2D(8, 3), GlobalAveragePooling2D(), Dense(3)])
    model.build((None, None, None, 1))
    assert model(ag.ones([1, 10, 9, 1])).shape.as_list() == [1, 3]


def test_the_output_shape_of_unknown_sizes() -> None:
    class Half(Layer):
        def call(self, inputs: Any) -> Any:
            return inputs[:, ::2]

    assert Half().compute_output_shape((None, None, 3)).as_list() == [None, None, 3]
    assert Half().compute_output_shape((2, 8, 3)).as_list() == [2, 4, 3]


def test_what_build_refuses() -> None:
    class Several(Model):
        def call(self, first: Any, second: Any, scale: Any = 1, training: Any = None) -> Any:
            return first + second

    class Words(Model):
        def __init__(self) -> None:
            super().__init__(name="words")
            self.table = Embedding(5, 2)

        def call(self, inputs: Any) -> Any:
            return embedding_lookup(ag.ones([5, 2]), inputs)

    for build, text in (
        (
            lambda: Several(name="s").build((2, 3)),
            "Model 's': build runs the model on an input alone, so that you cannot build your model if it has "
            "positional arguments beside the first without defaults; here it has second. Call the model on a batch "
            "instead.",
        ),
        (
            lambda: Words().build((2, 3)),
            "Model 'words': build runs the model on zeros of dtype float32, and cannot build your model if your layers "
            "do not support float type inputs. Call the model on a batch instead: embedding_lookup: ids must be int32 "
            "or int64; got dtype float32 and shape (2, 3). Cast it with tf.cast.",
        ),
        (
            lambda: Sequential([Dense(1)], name="q").build(7),
            "Model 'q': the input shape is not one of the valid types: build takes a tuple, a list or a TensorShape, "
            "or a list of those; got 7 of type int.",
        ),
    ):
        with says(ValueError, text):
            build()


def test_build_tells_a_model_of_training_that_asks() -> None:
    class Asks(Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = Dense(1)

        def call(self, inputs: Any, training: Any) -> Any:
            return self.dense(inputs)

    model = Asks()
    model.build((None, 2))
    assert len(model.weights) == 2


def test_a_sequential_model_is_described_as_it_was_built() -> None:
    model = Sequential([Dense(5), Dense(2)])
    assert "build_input_shape" not in model.get_config()
    model(ag.ones([4, 3]))
    config = model.get_config()
    assert config["build_input_shape"] == [None, 3]
    assert [w.shape.as_list() for w in Sequential.from_config(config).weights] == [[3, 5], [5], [5, 2], [2]]
    words = Sequential([Embedding(5, 2)])
    words(ag.constant([[1, 2]]))
    assert "build_input_shape" not in words.get_config()


def test_nothing_is_left_of_a_model_that_was_popped() -> None:
    model = Sequential([Dense(3, input_dim=2)])
    model.pop()
    assert (model.layers, model.inputs, model.outputs) == ([], None, None)
    model.add(Dense(3, input_dim=5))
    assert model.input_shape.as_list() == [None, 5]


def test_layers_of_several_outputs_do_not_follow_one_another() -> None:
    text = "Sequential 's': layers must return one tensor each; 'two' returned a list of 2. Use the functional API: "
    text += "tf.keras.Model(inputs, outputs)."
    with pytest.raises(ValueError, match=r".") as first:
        Sequential([Two(input_shape=(3,), name="two")], name="s")
    with pytest.raises(TypeError) as second:
        Sequential([Dense(1, input_dim=1), Two(name="two")], name="s")
    assert (str(first.value), str(second.value)) == (text, text)


def test_functions_of_middle_layers() -> None:
    model = Sequential([Dense(3, input_dim=2), Dense(1), Lambda(lambda x: x + float(learning_phase()))])
    x = np.ones((4, 2), np.float32)
    kernel, bias = model.layers[0].get_weights()
    (middle,) = function([model.input], [model.layers[0].output])([x])
    np.testing.assert_allclose(middle, x @ kernel + bias, rtol=1e-6)
    end = function([model.input, learning_phase()], model.layers[-1].output)
    np.testing.assert_allclose(end([x, 1]) - end([x, 0]), np.ones((4, 1)), rtol=1e-5)
    for wrong, kind, text in (
        (lambda: end([x]), ValueError, "function: there are 2 inputs; got 1 values."),
        (
            lambda: function([], [], updates=[1]),
            ValueError,
            "function: updates must be empty, since ops run as they are called; assign after the call.",
        ),
        (
            lambda: function([], [], fetches=[]),
            TypeError,
            "function: there is no argument 'fetches'; there is no session to give it to.",
        ),
    ):
        with says(kind, text):
            wrong()


def test_masks_go_through_symbolic_calls() -> None:
    class Needs(Layer):
        supports_masking = True

        def call(self, inputs: Any, mask: Any = None) -> Any:
            assert mask is not None
            return inputs * ag.cast(ag.expand_dims(mask, -1), "float32")

    x, other = Input(shape=(4, 5)), Input(shape=(4, 5))
    add = Add()
    masked = Masking()(x)
    model = Model([x, other], Needs()(add([masked, other])))
    assert add.output_mask.shape.as_list() == [None, 4]
    assert add.input_mask[1] is None
    data = np.ones((1, 4, 5), np.float32)
    data[:, 2:] = 0
    assert model([data, np.ones_like(data)]).numpy()[0, :, 0].tolist() == [2.0, 2.0, 0.0, 0.0]
    mask = Model([x, other], add.output_mask)([data, data])
    assert mask.numpy().tolist() == [[True, True, False, False]]


def test_means_of_the_steps_that_count() -> None:
    x = ag.constant([[[1.0], [3.0], [0.0]], [[0.0], [0.0], [0.0]]])
    for form in ("channels_last", "channels_first"):
        given = x if form == "channels_last" else ag.transpose(x, [0, 2, 1])
        pool = GlobalAveragePooling1D(form)
        mask = ag.constant([[True, True, False], [False, False, False]])
        assert pool(given, mask=mask).numpy().tolist() == [[2.0], [0.0]]
        np.testing.assert_allclose(pool(given).numpy(), [[4 / 3], [0.0]], rtol=1e-6)


def test_first_weights_and_older_names() -> None:
    table = np.arange(6, dtype=np.float32).reshape(3, 2)
    layer = Embedding(3, 2, weights=[table], trainable=False)
    assert layer(ag.constant([2])).numpy().tolist() == [[4.0, 5.0]]
    assert "weights" not in layer.get_config()
    assert (layer.updates, layer.get_updates_for(None), layer.get_losses_for(None)) == ([], [], [])
    dense = Dense(2, weights=[table.T[:, :2], np.ones(2)])
    assert dense(ag.constant([[1.0, 0.0]])).numpy().tolist() == [[1.0, 3.0]]


def test_shapes_of_several_outputs_of_a_lambda() -> None:
    told = Lambda(lambda x: x, output_shape=[(10,), (20,)]).compute_output_shape([(10, 10), (10, 20)])
    assert [shape.as_list() for shape in told] == [[10, 10], [10, 20]]
    same = Lambda(lambda x: x, output_shape=lambda shape: shape).compute_output_shape([(3, 4), (5,)])
    assert [shape.as_list() for shape in same] == [[3, 4], [5]]


def test_losses_with_and_without_inputs() -> None:
    layer = Dense(2, kernel_regularizer="l2", bias_regularizer="l2", activity_regularizer="l1")
    x = ag.ones([3, 4])
    layer(x)
    (of_x,) = layer.get_losses_for(x)
    np.testing.assert_allclose(of_x, np.abs(layer(x).numpy()).sum() * 0.01, rtol=1e-5)
    assert len(layer.get_losses_for(None)) == 2
    assert len(layer.losses) == 3
    assert Input((3, 4)).ndim == 3
