"""Whole models in files as Keras 3 writes them, written here by hand; `nox -s keras` reads files of Keras itself."""

from __future__ import annotations

import copy
import io
import json
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from agog_checkpoint.warning import CheckpointWarning
from agog_core.errors import DataLossError
from agog_layers import LSTM, Dense, Layer
from agog_layers.layer.function_layer import _functions as called_functions
from agog_training import Sequential, load_model

h5py = pytest.importorskip("h5py", reason="h5py reads HDF5")
random = np.random.RandomState(0)


def layer(kind: str, name: str, **settings: Any) -> dict[str, Any]:
    policy = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}, "registered_name": None}
    config = {"name": name, "trainable": True, "dtype": policy, **settings}
    return {"module": "keras.layers", "class_name": kind, "config": config, "registered_name": None}


def of_input(*shape: int, name: str = "x") -> dict[str, Any]:
    return layer("InputLayer", name, batch_shape=[None, *shape], sparse=False, ragged=False, optional=False)


def initializer(kind: str, **settings: Any) -> dict[str, Any]:
    return {"module": "keras.initializers", "class_name": kind, "config": settings, "registered_name": None}


def dense(name: str, units: int, **settings: Any) -> dict[str, Any]:
    """As Keras 3.15 describes the layer, with settings that are not known here and say nothing."""
    first = {"kernel_initializer": initializer("GlorotUniform", seed=None, input_axes=None, output_axes=None)}
    rest = {"activation": "linear", "use_bias": True, "kernel_regularizer": None, "quantization_config": None}
    return layer("Dense", name, units=units, **{**first, **rest, **settings})


def lstm(name: str, units: int, **settings: Any) -> dict[str, Any]:
    own = {"activation": "tanh", "recurrent_activation": "sigmoid", "seed": None, "zero_output_for_mask": False}
    return layer("LSTM", name, units=units, **{**own, **settings})


def gru(name: str, units: int, **settings: Any) -> dict[str, Any]:
    return {**lstm(name, units, reset_after=True, **settings), "class_name": "GRU"}


def sequential(*layers: Any, **more: Any) -> dict[str, Any]:
    config = {"name": "net", "trainable": True, "layers": list(layers)}
    return {"module": "keras", "class_name": "Sequential", "config": config, "registered_name": None, **more}


def tensor(name: str, node: int = 0, output: int = 0) -> dict[str, Any]:
    return {"class_name": "__keras_tensor__", "config": {"keras_history": [name, node, output]}}


def called(description: dict[str, Any], *calls: Any, **kwargs: Any) -> dict[str, Any]:
    nodes = [{"args": list(args), "kwargs": kwargs} for args in calls]
    return {**description, "name": description["config"]["name"], "inbound_nodes": nodes}


def functional(inputs: Any, outputs: Any, *layers: Any) -> dict[str, Any]:
    config = {"name": "net", "layers": list(layers), "input_layers": inputs, "output_layers": outputs}
    return {"module": "keras.src.models.functional", "class_name": "Functional", "config": config}


def written(path: Path, description: Any, arrays: dict[str, np.ndarray]) -> Path:
    weights = io.BytesIO()
    with h5py.File(weights, "w") as file:
        file.create_group("layers")
        for name, array in arrays.items():
            file[name] = array
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", '{"keras_version": "3.15.1"}')
        archive.writestr("config.json", description if isinstance(description, str) else json.dumps(description))
        archive.writestr("model.weights.h5", weights.getvalue())
    return path


def values(place: str, *shapes: tuple[int, ...]) -> dict[str, np.ndarray]:
    return {f"layers/{place}/vars/{n}": random.uniform(-1, 1, shape) for n, shape in enumerate(shapes)}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def h_sigmoid(x: np.ndarray) -> np.ndarray:
    return np.clip(x / 6 + 0.5, 0, 1)


def close(actual: Any, expected: np.ndarray) -> None:
    np.testing.assert_allclose(actual.numpy(), expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("name", "gate"), [("sigmoid", sigmoid), ("hard_sigmoid", h_sigmoid)])
def test_gates_are_those_of_the_file(tmp_path: Path, name: str, gate: Any) -> None:
    arrays = values("lstm/cell", (2, 12), (3, 12), (12,)) | values("dense", (3, 2), (2,))
    net = sequential(of_input(4, 2), lstm("a", 3, recurrent_activation=name), dense("b", 2, activation="relu"))
    model = load_model(written(tmp_path / "m.keras", net, arrays))
    x = random.rand(2, 4, 2)
    kernel, recurrent, bias, matrix, offset = arrays.values()
    h = c = np.zeros((2, 3))
    for step in np.moveaxis(x, 1, 0):
        i, f, g, o = np.split(step @ kernel + h @ recurrent + bias, 4, 1)
        c = gate(f) * c + gate(i) * np.tanh(g)
        h = gate(o) * np.tanh(c)
    close(model(np.float32(x)), np.maximum(h @ matrix + offset, 0))
    assert [each.name for each in model.layers] == ["a", "b"]


@pytest.mark.parametrize("reset_after", [True, False])
def test_gated_units_reset_as_in_the_file(tmp_path: Path, reset_after: bool) -> None:
    arrays = values("gru/cell", (2, 9), (3, 9), (2, 9) if reset_after else (9,))
    net = sequential(of_input(4, 2), gru("g", 3))
    net["config"]["layers"][1]["config"]["reset_after"] = reset_after
    model = load_model(written(tmp_path / "m.keras", net, arrays))
    x = random.rand(2, 4, 2)
    kernel, recurrent, bias = arrays.values()
    first, second = bias if reset_after else (bias, np.zeros(9))
    h = np.zeros((2, 3))
    for step in np.moveaxis(x, 1, 0):
        (xz, xr, xh), (hz, hr, hh) = (np.split(y, 3, 1) for y in (step @ kernel + first, h @ recurrent + second))
        z, r = sigmoid(xz + hz), sigmoid(xr + hr)
        candidate = np.tanh(xh + (r * hh if reset_after else (r * h) @ recurrent[:, 6:]))
        h = z * h + (1 - z) * candidate
    close(model(np.float32(x)), h)


def test_a_functional_model_with_shared_layers_and_operators(tmp_path: Path) -> None:
    shared = called(dense("shared", 3), [tensor("x")], [tensor("y")])
    operator = {"module": "keras.src.ops.numpy", "class_name": "Multiply", "config": {"name": "multiply"}}
    net = functional(
        {"x": ["x", 0, 0], "y": ["y", 0, 0]},
        [["add", 0, 0], ["last", 0, 0]],
        called(of_input(2)),
        called(of_input(2, name="y")),
        shared,
        called(operator, [tensor("shared", 1), 2.0]),
        called(layer("Add", "add"), [[tensor("shared"), tensor("multiply")]]),
        called(dense("last", 2, use_bias=False), [tensor("shared")], training=False, mask=None),
    )
    arrays = values("dense", (2, 3), (3,)) | values("dense_1", (3, 2))
    model = load_model(written(tmp_path / "m.keras", net, arrays))
    x, y = random.rand(4, 2), random.rand(4, 2)
    kernel, bias, last = arrays.values()
    one, two = model({"x": np.float32(x), "y": np.float32(y)})
    close(one, x @ kernel + bias + 2 * (y @ kernel + bias))
    close(two, (x @ kernel + bias) @ last)


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_branches_have_their_weights_whatever_the_order_of_the_file(tmp_path: Path, names: tuple[str, str]) -> None:
    branches = [called(dense(name, 2), [tensor("x")]) for name in names]
    net = functional(["x", 0, 0], [["a", 0, 0], ["b", 0, 0]], called(of_input(2)), *branches)
    arrays = values("dense", (2, 2), (2,)) | values("dense_1", (2, 2), (2,))
    model = load_model(written(tmp_path / "m.keras", net, arrays))
    kernel, bias, *_ = arrays.values()
    x = random.rand(3, 2)
    close(dict(zip("ab", model(np.float32(x)), strict=True))[names[0]], x @ kernel + bias)


def test_it_is_compiled_as_it_was(tmp_path: Path) -> None:
    optimizer = {
        "class_name": "SGD",
        "config": {"learning_rate": 0.5, "momentum": 0.0, "use_ema": False, "clipnorm": None},
    }
    given = {"optimizer": optimizer, "loss": "mse", "loss_weights": None, "metrics": ["mae"], "weighted_metrics": None}
    path = tmp_path / "m.keras"
    arrays = values("dense", (2, 1), (1,))
    model = load_model(written(path, sequential(of_input(2), dense("d", 1), compile_config=given), arrays))
    x, y = random.rand(4, 2), random.rand(4, 1)
    kernel, bias = arrays.values()
    error = x @ kernel + bias - y
    np.testing.assert_allclose(model.evaluate(x, y, verbose=0), [np.mean(error**2), np.mean(abs(error))], rtol=1e-5)
    model.train_on_batch(np.float32(x), np.float32(y))
    close(model.weights[0].value(), kernel - 0.5 * 2 * x.T @ error / 4)
    assert load_model(path, compile=False).optimizer is None
    given["optimizer"] = {"class_name": "Muon", "config": {}}
    written(path, sequential(of_input(2), dense("d", 1), compile_config=given), arrays)
    with pytest.warns(CheckpointWarning) as caught:
        assert load_model(path).optimizer is None
    (told,) = (str(each.message) for each in caught)
    assert told.startswith(
        f"load_model: the model of '{path}' is not compiled, since what Keras compiled it with is not known here ("
        "Unknown optimizer 'Muon'"
    )
    assert told.endswith("); call its compile before it is trained.")


def refused(path: Path, **options: Any) -> str:
    with pytest.raises((ValueError, DataLossError)) as caught:
        load_model(path, **options)
    return str(caught.value)


def test_all_that_is_unknown_is_named_at_once(tmp_path: Path) -> None:
    code = {"class_name": "__lambda__", "config": {"code": "4wEAAAA="}}
    net = sequential(
        of_input(4, 2),
        layer("AugMix", "mix"),
        dense("d", 2, activation="swirl", kernel_initializer=initializer("STFT")),
        lstm("l", 3, stretch=2),
        layer("Lambda", "code", function=code),
        {**layer("Mine", "own"), "module": "my.program", "registered_name": "my>Mine"},
    )
    path = written(tmp_path / "m.keras", net, {})
    assert refused(path) == (
        f"load_model: the description of the model in '{path}' cannot be used: agog does not have the class AugMix of "
        "layer 'mix'; the class STFT of layer 'd'; the activation 'swirl' of layer 'd'; stretch=2 of LSTM layer 'l'; "
        "the code of a lambda of layer 'code'; the class Mine of layer 'own'. Classes and functions of the program go "
        "into custom_objects."
    )


def test_classes_and_functions_of_the_program(tmp_path: Path) -> None:
    class Mine(Layer):
        def __init__(self, factor: float, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, inputs: Any) -> Any:
            return inputs * self.factor

    function = {"class_name": "function", "config": "twice", "module": "builtins", "registered_name": "function"}
    own = {**layer("Mine", "own", factor=3.0), "module": None, "registered_name": "my>Mine"}
    path = written(
        tmp_path / "m.keras", sequential(of_input(2), own, layer("Activation", "a", activation=function)), {}
    )
    model = load_model(path, custom_objects={"Mine": Mine, "twice": lambda x: x * 2})
    close(model(np.ones((1, 2), np.float32)), np.full((1, 2), 6.0))


def test_damaged_descriptions(tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    written(path, "{", {})
    assert refused(path) == (
        f"load_model: '{path}' is not a whole file of Keras: Expecting property name enclosed in double quotes: line 1 "
        "column 2 (char 1)."
    )
    for wrong in ("[]", "{}", "3"):
        written(path, wrong, {})
        assert refused(path) == (
            f"load_model: '{path}' is a file of Keras without a description that agog reads, as .keras files of Keras "
            "3 have it: make the model in the program, and call model.load_weights(path)."
        )
    for layers in ([3], [{"class_name": "Dense"}], [{"class_name": "Dense", "config": []}], {"a": 1}, [dense("d", -1)]):
        written(path, {"class_name": "Sequential", "config": {"name": "net", "layers": layers}}, {})
        assert refused(path).startswith(f"load_model: the description of the model in '{path}' ")


def test_weights_for_layers_with_other_settings_warn(tmp_path: Path) -> None:
    arrays = values("lstm/cell", (2, 12), (3, 12), (12,)) | values("dense", (3, 2), (2,))
    net = sequential(of_input(4, 2), lstm("a", 3, dropout=0.5), dense("b", 2, activation="relu"))
    path = written(tmp_path / "m.keras", net, arrays)
    model = Sequential([LSTM(3, input_shape=(4, 2), name="mine"), Dense(2, name="last")], name="net")
    with pytest.warns(CheckpointWarning) as caught:
        model.load_weights(path)
    assert [str(each.message) for each in caught] == [
        f"load_weights: layer 'mine' has recurrent_activation='hard_sigmoid', and its weights in '{path}' are those of "
        "one with recurrent_activation='sigmoid'.",
        f"load_weights: layer 'last' has activation='linear', and its weights in '{path}' are those of one with "
        "activation='relu'.",
    ]
    np.testing.assert_array_equal(model.get_weights()[0], np.float32(arrays["layers/lstm/cell/vars/0"]))
    same = Sequential([LSTM(3, recurrent_activation="sigmoid", input_shape=(4, 2)), Dense(2, activation="relu")])
    same.load_weights(path)  # warnings are errors here


# Files that somebody forged.


def peak_of_refused(path: Path) -> tuple[str, int]:
    """The text of the error that loading raises, and how many bytes were taken at most."""
    tracemalloc.start()
    try:
        with pytest.raises(DataLossError) as caught:
            load_model(path)
        return str(caught.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_weights_that_the_file_cannot_have_are_not_made(tmp_path: Path) -> None:
    arrays = values("dense", (4, 3), (3,))
    path = written(tmp_path / "m.keras", sequential(of_input(4), dense("a", 10**8)), arrays)
    text, peak = peak_of_refused(path)
    assert text == (
        f"load_model: the description of the model in {str(path)!r} is damaged: weight 'net/a/kernel' would have shape "
        "(4, 100000000), and all arrays of the file together have 15 numbers"
    )
    assert peak < 20_000_000


def test_arrays_that_are_larger_than_what_is_stored_of_them_count_as_that(tmp_path: Path) -> None:
    path = written(tmp_path / "m.keras", sequential(of_input(4), dense("a", 10**8)), {})
    weights = io.BytesIO()
    with h5py.File(weights, "w") as file:
        file.create_dataset("layers/dense/vars/0", (4, 10**8), "f4", chunks=(4, 100), fillvalue=1.0)
        file.create_dataset("layers/dense/vars/1", (10**8,), "f4", chunks=(100,), fillvalue=1.0)
    with zipfile.ZipFile(path) as archive:
        description = archive.read("config.json")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", description)
        archive.writestr("model.weights.h5", weights.getvalue())
    text, peak = peak_of_refused(path)
    assert text.endswith("would have shape (4, 100000000), and all arrays of the file together have 0 numbers")
    assert peak < 20_000_000


@pytest.mark.parametrize(
    ("kind", "config", "what"),
    [
        ("RepeatVector", {"n": 10**9}, "the output of layer 'r' would have shape (1, 1000000000, 4), "),
        ("Repeat", {"repeats": 10**9, "axis": 1}, "the output of layer 'r' would have shape (2, 1000000001, 1, 4), "),
        ("Tile", {"repeats": [10**5, 10**5]}, "the output of layer 'r' would have shape (100001, 100001, 1, 4), "),
        ("OneHot", {"num_classes": 10**9}, "the output of layer 'r' would have shape (1000000001, 1, 4), "),
        ("BroadcastTo", {"shape": [10**6, 10**6, 4]}, "the output of layer 'r' would have shape (1000001, 1000001, 5)"),
    ],
)
def test_values_that_are_too_large_are_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, config: dict[str, Any], what: str
) -> None:
    for name in ("repeat", "tile", "one_hot", "broadcast_to"):  # as tf.keras.ops tells them
        monkeypatch.setitem(called_functions, name, pytest.fail)  # is not reached
    entry = layer(kind, "r", **config)
    if kind != "RepeatVector":
        entry = {**entry, "module": f"keras.src.ops.numpy.{kind}", "config": {"name": "r", **config}}
    of_x = [{"class_name": "__keras_tensor__", "config": {"shape": [None, 4], "keras_history": ["x", 0, 0]}}]
    model = functional(["x", 0, 0], ["r", 0, 0], called(of_input(4)), called(entry, of_x))
    text, peak = peak_of_refused(written(tmp_path / "m.keras", model, {}))
    assert what in text
    assert peak < 20_000_000


def test_forged_descriptions_raise_one_error(tmp_path: Path, places: Callable[[Any], list[tuple[Any, Any]]]) -> None:
    chance = Random(7)
    arrays = values("lstm/cell", (2, 12), (3, 12), (12,)) | values("dense", (3, 2), (2,))
    net = sequential(of_input(4, 2), lstm("a", 3), dense("b", 2, activation="relu"))
    optimizer = {"module": "keras.optimizers", "class_name": "Adam", "config": {"learning_rate": 0.1}}
    compiled = {"optimizer": optimizer, "loss": "mse", "metrics": ["mae"], "loss_weights": None}
    data = {**net, "compile_config": compiled}
    load_model(written(tmp_path / "m.keras", data, arrays))
    forged: list[Any] = [
        10**9,
        [10**9],
        -1,
        0,
        1e30,
        None,
        "x",
        [],
        {},
        True,
        {"class_name": "Dense", "config": {}},
        net,
    ]
    for _ in range(150):
        other = copy.deepcopy(data)
        holder, key = chance.choice(places(other))
        before, holder[key] = holder[key], chance.choice(forged)
        path = written(tmp_path / "m.keras", other, arrays)
        text = "load_model: "
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                load_model(path)
            except (ValueError, DataLossError) as error:
                text = str(error)
        assert text.startswith(("load_model: ", "load_weights: ")), f"{key!r}: {before!r} -> {holder[key]!r}: {text}"


def trained(path: Path, optimizer: dict[str, Any], *state: Any) -> tuple[Path, dict[str, np.ndarray]]:
    """A matrix that was trained with an optimizer, whose state follows on the count of steps and the learning rate."""
    arrays = values("dense", (2, 1), (1,))
    held = (np.int64(3), np.float32(0.5), *state)
    given = {"optimizer": optimizer, "loss": "mse", "loss_weights": None, "metrics": None, "weighted_metrics": None}
    net = sequential(of_input(2), dense("d", 1), compile_config=given)
    return written(path, net, arrays | {f"optimizer/vars/{n}": value for n, value in enumerate(held)}), arrays


def gradients(arrays: dict[str, np.ndarray], x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    kernel, bias = arrays.values()
    error = 2 * (x @ kernel + bias - y) / len(x)
    return [x.T @ error, error.sum(0)]


def optimizer_of(kind: str, **settings: Any) -> dict[str, Any]:
    rest = {"name": kind.lower(), "learning_rate": 0.5, "weight_decay": None, "clipnorm": None, "use_ema": False}
    return {"module": "keras.optimizers", "class_name": kind, "config": {**rest, **settings}}


X, Y = random.rand(4, 2), random.rand(4, 1)


def test_momentum_goes_on(tmp_path: Path) -> None:
    velocities = [np.float32(random.rand(2, 1)), np.float32(random.rand(1))]
    path, arrays = trained(tmp_path / "m.keras", optimizer_of("SGD", momentum=0.9, nesterov=False), *velocities)
    model = load_model(path)
    model.train_on_batch(np.float32(X), np.float32(Y))
    steps = zip(arrays.values(), velocities, gradients(arrays, X, Y), strict=True)
    for weight, (before, velocity, gradient) in zip(model.weights, steps, strict=True):
        close(weight, before + 0.9 * velocity - 0.5 * gradient)
    assert int(model.optimizer.iterations) == 4


def test_moments_go_on_of_each_variable_in_turn(tmp_path: Path) -> None:
    means, squares = ([np.float32(random.rand(*shape)) for shape in ((2, 1), (1,))] for _ in range(2))
    interleaved = [each for pair in zip(means, squares, strict=True) for each in pair]
    adam = optimizer_of("Adam", beta_1=0.9, beta_2=0.99, epsilon=1e-3, amsgrad=False)
    path, arrays = trained(tmp_path / "m.keras", adam, *interleaved)
    model = load_model(path)
    model.train_on_batch(np.float32(X), np.float32(Y))
    rate = 0.5 * np.sqrt(1 - 0.99**4) / (1 - 0.9**4)
    for n, (weight, before, gradient) in enumerate(
        zip(model.weights, arrays.values(), gradients(arrays, X, Y), strict=True)
    ):
        mean, square = 0.9 * means[n] + 0.1 * gradient, 0.99 * squares[n] + 0.01 * gradient**2
        close(weight, before - rate * mean / (np.sqrt(square) + 1e-3))


def test_epsilon_is_under_the_root_where_keras_3_has_it(tmp_path: Path) -> None:
    state = [np.float32(random.rand(2, 1)), np.float32(random.rand(1))]
    for kind, settings, share in (
        ("RMSprop", {"rho": 0.5, "momentum": 0.0, "centered": False}, (0.5, 0.5)),
        ("Adagrad", {"initial_accumulator_value": 0.1}, (1, 1)),
    ):
        path, arrays = trained(tmp_path / f"{kind}.keras", optimizer_of(kind, epsilon=0.5, **settings), *state)
        model = load_model(path)
        model.train_on_batch(np.float32(X), np.float32(Y))
        for weight, before, held, gradient in zip(
            model.weights, arrays.values(), state, gradients(arrays, X, Y), strict=True
        ):
            close(weight, before - 0.5 * gradient / np.sqrt(share[0] * held + share[1] * gradient**2 + 0.5))


def test_state_that_does_not_fit_is_told(tmp_path: Path) -> None:
    state = [np.zeros((2, 1), "float32"), np.zeros((5,), "float32")]
    path, arrays = trained(tmp_path / "m.keras", optimizer_of("SGD", momentum=0.9), *state)
    with pytest.warns(CheckpointWarning) as caught:
        model = load_model(path)
    assert [str(each.message) for each in caught] == [
        f"load_model: the optimizer of the model of '{path}' begins anew, since its state in the file cannot be used: "
        f"net/d/bias/sgd:0 has shape (1,); /optimizer/vars/3 in '{path}' has shape (5,) and dtype float32. The model "
        "is another than the one that was saved."
    ]
    model.train_on_batch(np.float32(X), np.float32(Y))
    for weight, before, gradient in zip(model.weights, arrays.values(), gradients(arrays, X, Y), strict=True):
        close(weight, before - 0.5 * gradient)
    path, _ = trained(tmp_path / "m.keras", optimizer_of("SGD", momentum=0.9), state[0])
    with pytest.warns(CheckpointWarning, match="SGD of this model has 4 variables, and the file 3"):
        load_model(path)


def test_a_kernel_that_is_normalized_is_there_twice(tmp_path: Path) -> None:
    net = sequential(of_input(2), layer("SpectralNormalization", "s", layer=dense("d", 3), power_iterations=1))
    kernel, bias, vector = (np.float32(random.rand(*shape)) for shape in ((2, 3), (3,), (1, 3)))
    place = "layers/spectral_normalization"
    arrays = {f"{place}/vars/0": kernel, f"{place}/vars/1": vector}
    arrays |= {f"{place}/layer/vars/0": kernel, f"{place}/layer/vars/1": bias}
    model = load_model(written(tmp_path / "m.keras", net, arrays))
    x = random.rand(4, 2)
    close(model(np.float32(x)), x @ kernel + bias)
    close(model.layers[0].vector_u, vector)
