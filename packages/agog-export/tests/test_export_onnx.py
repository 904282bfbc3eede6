"""ONNX: models that onnxruntime runs as agog does, at any size that the input signature leaves open."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import agog_core as ag
from agog_core.errors import UnimplementedError
from agog_export import onnx as to_onnx
from agog_layers import LSTM, BatchNormalization, Conv2D, Dense, Dropout, Embedding, Flatten, Input, Model, Sequential
from agog_testing.errors import says

X = ag.TensorSpec([None, 3], name="x")


def run(model: Any, **inputs: Any) -> list[np.ndarray[Any, Any]]:
    """What onnxruntime computes."""
    onnx.checker.check_model(model, full_check=True)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)  # type: ignore[no-any-return]


def compare(function: Any, model: Any, name: str, shape: tuple[int, ...], dtype: Any = np.float32) -> None:
    """The results of both, at three sizes of the batch."""
    rng = np.random.default_rng(0)
    for batch in (1, 2, 33):
        x = (abs(rng.normal(size=(batch, *shape))) * 2).astype(dtype)
        want = function(ag.constant(x)).numpy()
        np.testing.assert_allclose(run(model, **{name: x})[0], want, rtol=1e-5, atol=1e-5)


def changed(model: Any, shape: tuple[int, ...], dtype: str = "float32") -> Any:
    """A model that is built, with weights of which none is 0 or 1."""
    model(ag.zeros((2, *shape), dtype))
    rng = np.random.default_rng(1)
    for variable in model.variables:
        variable.assign(variable.numpy() + rng.uniform(0.1, 0.3, variable.shape.as_list()).astype(np.float32))
    return model


def test_batch_normalization_and_dropout_are_those_of_inference() -> None:
    model = changed(Sequential([Dense(8, activation="relu"), BatchNormalization(), Dropout(0.5), Dense(2)]), (3,))
    compare(model, to_onnx(model, None, [X]), "x", (3,))


def test_a_network_of_convolutions_and_a_recurrent_one() -> None:
    images = changed(Sequential([Conv2D(4, 3, strides=2, padding="same", activation="relu"), Flatten()]), (8, 8, 1))
    compare(images, to_onnx(images, None, [ag.TensorSpec([None, 8, 8, 1], name="x")]), "x", (8, 8, 1))
    words = changed(Sequential([Embedding(9, 4), LSTM(5), Dense(2)]), (7,), "int32")
    compare(words, to_onnx(words, None, [ag.TensorSpec([None, 7], "int32", "x")]), "x", (7,), np.int32)


def test_names_of_inputs_outputs_and_weights_stay() -> None:
    first, second = Input([3], name="left"), Input([3], name="right")
    hidden = Dense(4, name="hidden")(first)
    model = Model([first, second], [Dense(2, name="scores")(hidden), Dense(1, name="value")(second)], name="both")
    found = to_onnx(model)
    assert [x.name for x in found.graph.input] == ["left", "right"]
    assert [x.name for x in found.graph.output] == ["scores", "value"]
    assert {"hidden/kernel", "hidden/bias"} <= {x.name for x in found.graph.initializer}
    assert [d.dim_param or d.dim_value for d in found.graph.output[0].type.tensor_type.shape.dim] == ["batch", 2]


def test_a_function_has_the_names_of_its_parameters_and_of_the_keys_that_it_returns() -> None:
    def function(first: Any, pair: Any) -> dict[str, Any]:
        return {"total": first + pair["a"], "difference": first - pair["b"]}

    spec = ag.TensorSpec([None])
    found = to_onnx(ag.function(function), None, [spec, {"a": spec, "b": spec}])
    assert [x.name for x in found.graph.input] == ["first", "pair.a", "pair.b"]
    one, two, four = (np.array([number], np.float32) for number in (1, 2, 4))
    assert [x.name for x in found.graph.output] == ["difference", "total"]
    assert [float(x[0]) for x in run(found, **{"first": one, "pair.a": two, "pair.b": four})] == [-3.0, 3.0]


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: ag.reshape(x, [-1]), [None, None]),
        (lambda x: ag.reshape(x, [x.shape[0], 1, x.shape[1]]), [None, None]),
        (lambda x: ag.reshape(ag.concat([x, x, x[:1]], 0), [-1, 1]), [None, 4]),
        (lambda x: ag.reduce_sum(x, 0) / ag.cast(ag.shape(x)[0], ag.float32), [None, 3]),
        (lambda x: x + ag.cast(ag.range(x.shape[0]), ag.float32)[:, None], [None, 3]),
        (lambda x: ag.zeros([x.shape[0], 2]) + x[:, :1], [None, 3]),
        (lambda x: ag.shape(x), [None, 3]),
        (lambda x: x[:-1] * 2.0, [None, 3]),
        (lambda x: ag.boolean_mask(x, x > 0.0), [None, 3]),
    ],
)
def test_a_none_is_a_size_of_any_number(function: Any, shape: list[int | None]) -> None:
    found = to_onnx(function, None, [ag.TensorSpec(shape, name="x")])
    for size in (1, 2, 33):
        x = np.random.default_rng(size).normal(size=[size + n if d is None else d for n, d in enumerate(shape)])
        x = x.astype(np.float32)
        got, want = run(found, x=x)[0], function(ag.constant(x)).numpy()
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_unknown_sizes_of_several_inputs_are_one_where_the_function_asks_for_that() -> None:
    spec = ag.TensorSpec([2, None])
    apart = to_onnx(lambda x, y: ag.concat([x, y], 1), None, [spec, spec])
    assert run(apart, x=np.ones([2, 1], np.float32), y=np.ones([2, 5], np.float32))[0].shape == (2, 6)
    joined = to_onnx(lambda x, y: ag.reshape(x + y, [-1]), None, [spec, spec])
    assert run(joined, x=np.ones([2, 5], np.float32), y=np.ones([2, 5], np.float32))[0].shape == (10,)


def here(offset: int) -> str:
    """A line of this file, by its distance from the caller's."""
    frame = sys._getframe(1)
    return f"{frame.f_code.co_filename}:{frame.f_lineno + offset}"


def refused(function: Any, spec: Any, text: str) -> None:
    with says(UnimplementedError, text):
        to_onnx(function, None, [spec])


def test_what_cannot_go_is_named_with_its_line() -> None:
    refused(
        lambda x: ag.cholesky(ag.matmul(x, x, transpose_b=True) + ag.eye(3)),
        ag.TensorSpec([3, 3]),
        f"tf.export.onnx: cholesky at {here(-2)}: ONNX has no factorizations of matrices and no solvers.",
    )
    refused(
        lambda x: ag.nn.dropout(x, 0.5),
        X,
        f"tf.export.onnx: dropout at {here(-2)}: it takes random numbers, which no other runtime draws as agog does; "
        "export what runs in inference.",
    )
    refused(
        lambda x: x if ag.reduce_sum(x) > -1e9 else -x,
        X,
        f"tf.export.onnx: guard at {here(-2)}: Python goes another way by a value of a tensor, and a model has one "
        "way; choose with tf.where, or make the condition a Python value.",
    )
    refused(
        lambda x: x * (1.0 / x.shape[0]),
        X,
        f"tf.export.onnx: multiply at {here(-2)}: a constant among its inputs depends on unknown sizes in a way that "
        "is no line of them.",
    )
    refused(
        lambda x: ag.stack([ag.reduce_sum(x[n]) for n in range(x.shape[0])]),
        X,
        f"tf.export.onnx: at {here(-2)} the function does something else for other sizes: Python has looked at a size "
        "that the input signature leaves open. Give the size in the input signature, or compute with tensors.",
    )
    refused(
        lambda x: ag.reshape(x[: x.shape[0] // 2], [x.shape[0] // 2, 3, 1]) * ag.ones([x.shape[0] // 2, 1, 1]),
        X,
        f"tf.export.onnx: strided_slice at {here(-2)}: a size is 1, 2, 8 in the traces, which is no line of the sizes "
        "of the arguments.",
    )


def test_a_function_that_writes_a_variable_is_refused() -> None:
    count = ag.Variable(0.0, name="count")

    def function(x: Any) -> Any:
        count.assign_add(1.0)
        return x + count

    refused(
        function,
        X,
        "tf.export.onnx: the function gives the variable count:0 a new value, and a model's weights are constants; "
        "export what runs in inference.",
    )
    assert count.numpy() == 0.0


def test_without_an_input_signature_one_is_needed() -> None:
    text = (
        "tf.export.onnx: function does not say what it takes; give an input_signature, such as "
        '[tf.TensorSpec([None, 28, 28, 1], "float32")].'
    )

    def function(x: Any) -> Any:
        return x

    with says(ValueError, text):
        to_onnx(function)
    with says(
        TypeError, "tf.export.onnx: input_signature must be a list of TensorSpec, or of structures of them; got 3."
    ):
        to_onnx(function, None, [3])
    with says(ValueError, 'tf.export.onnx: weights must be "inside" or "beside"; got \'out\'.'):
        to_onnx(function, None, [X], weights="out")


def test_weights_beside_are_read_from_the_second_file(tmp_path: Path) -> None:
    model = changed(Sequential([Dense(40), Dense(2)]), (3,))
    for _ in range(2):  # the second time over what is there
        to_onnx(model, tmp_path / "m.onnx", [X], weights="beside")
    x = np.ones([2, 3], np.float32)
    got = ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, {"x": x})[0]
    np.testing.assert_allclose(got, model(ag.constant(x)).numpy(), rtol=1e-5)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sizes.keys() == {"m.onnx", "m.onnx.data"}
    assert sum(v.numpy().nbytes for v in model.variables) <= sizes["m.onnx.data"] < 2 * 4096
    to_onnx(model, tmp_path / "inside.onnx", [X])
    assert (tmp_path / "inside.onnx").stat().st_size > sizes["m.onnx"]


def test_without_onnx_one_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "import agog_core as ag, agog_export\n"
        "try:\n"
        "    agog_export.onnx(lambda x: x, None, [ag.TensorSpec([2])])\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "tf.export.onnx needs the package onnx: `python -m pip install 'agog-export[onnx]'`."
