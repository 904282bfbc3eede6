"""Whatever `tf.keras` exports is saved and loaded: each layer in a model, each loss, metric, optimizer, initializer,
regularizer and constraint by itself and in a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog as tf

K = tf.keras


def exported(room: Any, base: type) -> dict[str, type]:
    """The classes of a room, each once, by their own names."""
    found = [getattr(room, name) for name in dir(room)]
    kinds = {each for each in found if isinstance(each, type) and issubclass(each, base) and each is not base}
    return {kind.__name__: kind for kind in sorted(kinds, key=lambda kind: kind.__name__)}


# What constructors are given, where they cannot be called on nothing, or do nothing then.
LAYER_ARGUMENTS: dict[str, Any] = {
    "Activation": ["relu"],
    "AlphaDropout": [0.5],
    "Bidirectional": lambda: [K.layers.GRU(2)],
    "CategoryEncoding": [6],
    "CenterCrop": [2, 3],
    "Dense": [2, "tanh", True, "identity", "ones", "l2"],
    "DenseFeatures": lambda: [[tf.feature_column.numeric_column("a")]],
    "DepthwiseConv2D": [2],
    "Discretization": [[0.25, 0.5]],
    "Dot": [1],
    "EinsumDense": ["abc,cd->abd", (None, 2)],
    "Embedding": [6, 2],
    "GaussianDropout": [0.5],
    "GaussianNoise": [0.5],
    "GroupNormalization": [3],
    "HashedCrossing": [5],
    "Hashing": [5],
    "IntegerLookup": {"vocabulary": [1, 3]},
    "MultiHeadAttention": [2, 3],
    "Permute": [(2, 1)],
    "RNN": lambda: [K.layers.StackedRNNCells([K.layers.LSTMCell(2), tf.nn.rnn_cell.LSTMCell(3)])],
    "RandomBrightness": [0.1],
    "RandomContrast": [0.1],
    "RandomCrop": [2, 2],
    "RandomRotation": [0.1],
    "RandomTranslation": [0.1, 0.1],
    "RandomZoom": [0.1],
    "RepeatVector": [2],
    "Rescaling": [0.5],
    "Reshape": [(3, 4)],
    "Resizing": [2, 3],
    "SpectralNormalization": lambda: [K.layers.Dense(2)],
    "StringLookup": {"vocabulary": ["a", "b"]},
    "TextVectorization": {"vocabulary": ["a", "b"]},
    "TimeDistributed": lambda: [K.layers.Dense(2)],
    "Wrapper": lambda: [K.layers.Dense(2)],
}
for name in ("Conv", "LocallyConnected", "SeparableConv", "ConvLSTM"):
    LAYER_ARGUMENTS |= {f"{name}{n}D{end}": [2, 2] for n in (1, 2, 3) for end in ("", "Transpose")}
for name in ("LSTM", "GRU", "SimpleRNN", "CuDNNLSTM", "CuDNNGRU"):
    LAYER_ARGUMENTS |= {name: [2]}
LAYER_ARGUMENTS |= {f"SpatialDropout{n}D": [0.5] for n in (1, 2, 3)}

# The shapes of the inputs, where the layer's name does not say how many axes they have.
SHAPES: dict[str, Any] = {
    **dict.fromkeys(
        ("Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract"), ((4,), (4,))
    ),
    **dict.fromkeys(("AdditiveAttention", "Attention", "MultiHeadAttention"), ((4, 3), (5, 3))),
    **dict.fromkeys(("HashedCrossing",), ((1,), (1,))),
    **dict.fromkeys(("Dense", "CategoryEncoding", "RepeatVector", "SpectralNormalization", "Wrapper"), (2,)),
    **dict.fromkeys(("CenterCrop", "Resizing", "RandomFlip"), (8, 8, 3)),
    "ConvLSTM2D": (3, 6, 6, 2),
    "RandomBrightness": (8, 8, 3),
}
SHAPES |= {name: (8, 8, 3) for name in LAYER_ARGUMENTS if name.startswith("Random")}
AXES = {"1D": (8, 3), "2D": (8, 8, 3), "3D": (4, 4, 4, 3)}
DTYPES = {
    **dict.fromkeys(("Embedding", "CategoryEncoding", "IntegerLookup", "HashedCrossing", "Hashing"), "int64"),
    **dict.fromkeys(("StringLookup", "TextVectorization"), "string"),
}
# Cells are parts of recurrent layers, features come in a dict, a function is part of a program, and a saved model lies
# in a folder of its own.
NOT_ALONE = {
    *("InputLayer", "DenseFeatures", "Lambda", "GRUCell", "LSTMCell", "SimpleRNNCell", "StackedRNNCells", "TFSMLayer"),
}
# Bases, which compute nothing.
ABSTRACT = {"Layer", "Wrapper"}


def made(kind: type, arguments: Any) -> Any:
    given = arguments() if callable(arguments) else arguments
    return kind(**given) if isinstance(given, dict) else kind(*given)


def shapes_of(name: str) -> Any:
    return SHAPES.get(name) or next((shape for end, shape in AXES.items() if end in name), (4, 3))


def example(shape: Any, dtype: str) -> Any:
    random = np.random.RandomState(0)
    if dtype == "string":
        return np.array([[b"a"], [b"c"]])
    values = random.rand(2, *shape)
    return (values * 4).astype(dtype) if dtype == "int64" else values.astype(dtype)


def same(first: Any, second: Any) -> None:
    for one, other in zip(
        tf.contrib.framework.nest.flatten(first), tf.contrib.framework.nest.flatten(second), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def again(model: Any, path: Path) -> Any:
    model.save(path / "m.agog")
    return K.models.load_model(path / "m.agog")


LAYERS = exported(K.layers, K.layers.Layer)


@pytest.mark.parametrize("name", sorted(LAYERS.keys() - NOT_ALONE - ABSTRACT))
def test_each_layer_in_a_model(name: str, tmp_path: Path) -> None:
    layer = made(LAYERS[name], LAYER_ARGUMENTS.get(name, []))
    shapes, dtype = shapes_of(name), DTYPES.get(name, "float32")
    if name in ("StringLookup", "TextVectorization", "Hashing"):
        shapes = (1,)
    several = isinstance(shapes[0], tuple)
    inputs = [K.Input(shape, dtype=dtype) for shape in (shapes if several else [shapes])]
    called = layer(*inputs) if name == "MultiHeadAttention" else layer(inputs if several else inputs[0])
    model = K.Model(inputs, called)
    loaded = again(model, tmp_path)
    twin = next(each for each in loaded.layers if each.name == layer.name)
    assert type(twin) is type(layer)
    assert json.loads(json.dumps(twin.get_config())) == json.loads(json.dumps(layer.get_config()))
    values = [example(shape, dtype) for shape in (shapes if several else [shapes])]
    same(loaded.predict(values if several else values[0]), model.predict(values if several else values[0]))


@pytest.mark.parametrize("name", ["GRUCell", "LSTMCell", "SimpleRNNCell"])
def test_each_cell_in_a_layer(name: str, tmp_path: Path) -> None:
    model = K.Sequential([K.layers.RNN(LAYERS[name](2), input_shape=(4, 3))])
    loaded = again(model, tmp_path)
    assert type(loaded.layers[0].cell) is LAYERS[name]
    x = example((4, 3), "float32")
    same(loaded.predict(x), model.predict(x))


@pytest.mark.parametrize("name", ["BasicLSTMCell", "BasicRNNCell", "GRUCell", "LSTMCell"])
def test_each_cell_of_tensorflow_1(name: str, tmp_path: Path) -> None:
    kind = getattr(tf.nn.rnn_cell, name)
    model = K.Sequential([K.layers.RNN(kind(2), input_shape=(4, 3))])
    loaded = again(model, tmp_path)
    assert type(loaded.layers[0].cell) is kind
    x = example((4, 3), "float32")
    same(loaded.predict(x), model.predict(x))


def test_features_of_a_dict(tmp_path: Path) -> None:
    layer = made(LAYERS["DenseFeatures"], LAYER_ARGUMENTS["DenseFeatures"])
    model = K.Sequential([layer, K.layers.Dense(1)])
    x = {"a": example((1,), "float32")}
    model(x)
    same(again(model, tmp_path).predict(x), model.predict(x))


def test_a_layer_and_an_initializer_of_one_name(tmp_path: Path) -> None:
    dense = K.layers.Dense(3, kernel_initializer=K.initializers.Identity(2.0))
    model = K.Sequential([K.layers.Identity(input_shape=(3,)), dense])
    loaded = again(model, tmp_path)
    assert type(loaded.layers[0]) is K.layers.Identity
    assert type(loaded.layers[1].kernel_initializer) is K.initializers.Identity
    assert loaded.layers[1].kernel_initializer.gain == 2.0
    assert type(K.layers.deserialize(K.layers.serialize(K.layers.Identity()))) is K.layers.Identity
    identity = K.initializers.deserialize(K.initializers.serialize(K.initializers.Identity(2.0)))
    assert type(identity) is K.initializers.Identity


def compiled(optimizer: Any = "sgd", loss: Any = "mse", metrics: Any = (), outputs: int = 2, **options: Any) -> Any:
    model = K.Sequential([K.layers.Dense(outputs, "softmax", input_shape=(3,), **options)])
    model.compile(optimizer, loss, metrics=list(metrics))
    return model


X = example((3,), "float32")
Y = np.array([[1.0, 0.0], [0.0, 1.0]], "float32")


def ends_alike(model: Any, loaded: Any, y: Any) -> None:
    """The next steps have the same results, to the last bit."""
    for _ in range(3):
        assert loaded.train_on_batch(X, y) == model.train_on_batch(X, y)
    same(loaded.get_weights(), model.get_weights())


LOSS_ARGUMENTS: dict[str, Any] = {"Huber": {"delta": 0.5}, "CTC": {}}
LOSSES = exported(K.losses, K.losses.Loss)


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - {"CTC"}))
def test_each_loss(name: str, tmp_path: Path) -> None:
    loss = made(LOSSES[name], LOSS_ARGUMENTS.get(name, []))
    twin = K.losses.deserialize(K.losses.serialize(loss))
    assert type(twin) is type(loss)
    assert twin.get_config() == loss.get_config()
    model = compiled(loss=loss)
    y = np.array([0, 1]) if name.startswith("Sparse") else Y
    model.train_on_batch(X, y)
    loaded = again(model, tmp_path)
    assert type(loaded.objective.given["loss"]) is type(loss)
    ends_alike(model, loaded, y)


def test_the_loss_of_sequences() -> None:
    assert type(K.losses.deserialize(K.losses.serialize(K.losses.CTC()))) is K.losses.CTC


METRIC_ARGUMENTS: dict[str, Any] = {
    "F1Score": {"average": "macro"},
    "FBetaScore": {"average": "macro"},
    **dict.fromkeys(("IoU", "OneHotIoU"), (2, (0,))),
    **dict.fromkeys(("MeanIoU", "OneHotMeanIoU"), (2,)),
    **dict.fromkeys(
        ("PrecisionAtRecall", "RecallAtPrecision", "SensitivityAtSpecificity", "SpecificityAtSensitivity"), (0.5,)
    ),
    "MeanMetricWrapper": lambda: [K.metrics.binary_accuracy],
}
METRICS = exported(K.metrics, K.metrics.Metric)
# What takes values, and no labels.
OF_VALUES = {"Mean", "Sum"}


@pytest.mark.parametrize("name", sorted(METRICS))
def test_each_metric(name: str, tmp_path: Path) -> None:
    metric = made(METRICS[name], METRIC_ARGUMENTS.get(name, []))
    twin = K.metrics.deserialize(K.metrics.serialize(metric))
    assert type(twin) is type(metric)
    assert twin.get_config() == metric.get_config()
    if name in OF_VALUES:
        return
    one = name in ("MeanIoU", "IoU", "BinaryIoU")
    model = compiled(metrics=[metric], outputs=1 if one else 2)
    y = np.array([[0.0], [1.0]]) if one else np.array([[0], [1]]) if name.startswith("Sparse") else Y
    if name.startswith("Sparse"):
        model.compile("sgd", "sparse_categorical_crossentropy", metrics=[metric])
    loaded = again(model, tmp_path)
    assert loaded.metrics_names == model.metrics_names
    np.testing.assert_array_equal(loaded.evaluate(X, y, verbose=0), model.evaluate(X, y, verbose=0))


OPTIMIZER_ARGUMENTS: dict[str, Any] = {
    "LossScaleOptimizer": lambda: [K.optimizers.Adam(0.01)],
    "FtrlOptimizer": [0.1],
    "MomentumOptimizer": [0.1, 0.9],
}
OPTIMIZERS = exported(K.optimizers, tf.train.Optimizer)
OF_TRAIN = exported(tf.train, tf.train.Optimizer)


# Bases, and what takes what belongs to a program: its global step, or other optimizers.
NOT_SAVED = {"KerasOptimizer", "Optimizer", "AdagradDAOptimizer", "SyncReplicasOptimizer"}


@pytest.mark.parametrize("name", sorted((OPTIMIZERS.keys() | OF_TRAIN.keys()) - NOT_SAVED))
def test_each_optimizer(name: str, tmp_path: Path) -> None:
    kind = OPTIMIZERS.get(name) or OF_TRAIN[name]
    default = [] if name in OPTIMIZERS else [0.1]
    optimizer = made(kind, OPTIMIZER_ARGUMENTS.get(name, default))
    model = compiled(optimizer)
    model.train_on_batch(X, Y)
    loaded = again(model, tmp_path)
    assert type(loaded.optimizer) is type(optimizer)
    ends_alike(model, loaded, Y)


WEIGHTS = [
    *(
        ("kernel_initializer", name, kind)
        for name, kind in exported(K.initializers, K.initializers.Initializer).items()
    ),
    *(
        ("kernel_regularizer", name, kind)
        for name, kind in exported(K.regularizers, K.regularizers.Regularizer).items()
    ),
    *(("kernel_constraint", name, kind) for name, kind in exported(K.constraints, K.constraints.Constraint).items()),
]


@pytest.mark.parametrize(("argument", "name", "kind"), WEIGHTS, ids=[name for _, name, _ in WEIGHTS])
def test_each_initializer_regularizer_and_constraint(argument: str, name: str, kind: type, tmp_path: Path) -> None:
    thing = kind(0.5) if name in ("L1L2", "OrthogonalRegularizer", "Constant") else kind()
    room = getattr(K, f"{argument.removeprefix('kernel_')}s")
    twin = room.deserialize(room.serialize(thing))
    assert type(twin) is type(thing)
    assert twin.get_config() == thing.get_config()
    model = compiled(**{argument: thing})
    loaded = again(model, tmp_path)
    found = getattr(loaded.layers[0], argument)
    assert type(found) is type(thing)
    assert found.get_config() == thing.get_config()
    ends_alike(model, loaded, Y)
