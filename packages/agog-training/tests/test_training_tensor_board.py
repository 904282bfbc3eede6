"""The callback for TensorBoard, its file read back."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboardX.proto.event_pb2 import Event
from tensorboardX.proto.graph_pb2 import GraphDef

from agog_layers import Conv2D, Dense, Embedding, Flatten
from agog_testing import says
from agog_training import Sequential
from agog_training.callbacks import TensorBoard

X = np.random.default_rng(3).normal(size=(8, 3)).astype("float32")
Y = X.sum(1, keepdims=True)


def events(folder: Path) -> list[Any]:
    """The events of a folder's only file, without the one of the version."""
    (file,) = folder.iterdir()
    data, found = file.read_bytes(), []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        found.append(Event.FromString(data[12 : 12 + length]))
        data = data[16 + length :]
    assert found[0].file_version == "brain.Event:2"
    return found[1:]


def numbers(folder: Path, tag: str) -> list[tuple[int, float]]:
    return [(e.step, v.simple_value) for e in events(folder) for v in e.summary.value if v.tag == tag]


def compiled() -> Any:
    model = Sequential([Dense(1, input_shape=(3,), name="d")])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def test_losses_and_metrics_are_written(tmp_path: Path) -> None:
    model, callback = compiled(), TensorBoard(tmp_path / "logs")
    model.fit(X, Y, batch_size=4, epochs=3, validation_data=(X, Y), verbose=0, callbacks=[callback])
    history = model.history.history
    assert len(history) == 4
    for name, values in history.items():
        steps, written = zip(*numbers(tmp_path / "logs", f"epoch_{name}"), strict=True)
        assert steps == (0, 1, 2)
        np.testing.assert_array_equal(written, np.float32(values))
    assert [step for step, _ in numbers(tmp_path / "logs", "batch_loss")] == [0, 1, 2, 3, 4, 5]
    tags = {value.tag for event in events(tmp_path / "logs") for value in event.summary.value}
    assert tags == {f"epoch_{name}" for name in history} | {
        f"batch_{name}" for name in history if not name.startswith("val_")
    }


def test_losses_of_batches(tmp_path: Path) -> None:
    model = compiled()
    loss, _ = model.evaluate(X, Y, verbose=0)
    model.fit(X, Y, batch_size=8, verbose=0, callbacks=[TensorBoard(tmp_path)])
    ((step, written),) = numbers(tmp_path, "batch_loss")
    assert step == 0
    np.testing.assert_allclose(written, loss, rtol=1e-6)  # the sum of a batch in another order


def test_batches_go_on_in_a_second_training(tmp_path: Path) -> None:
    model, callback = compiled(), TensorBoard(tmp_path / "a")
    model.fit(X, Y, batch_size=4, verbose=0, callbacks=[callback])
    callback.log_dir = str(tmp_path / "b")
    model.fit(X, Y, batch_size=4, verbose=0, callbacks=[callback])
    assert [step for step, _ in numbers(tmp_path / "b", "batch_loss")] == [2, 3]


def test_histograms_of_weights(tmp_path: Path) -> None:
    model = compiled()
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[TensorBoard(tmp_path, histogram_freq=2)])
    found = [(e.step, v.tag, v.histo) for e in events(tmp_path) for v in e.summary.value if v.HasField("histo")]
    names = [weight.name.replace(":", "_") for weight in model.weights]
    assert [(step, tag) for step, tag, _ in found] == [(step, name) for step in (0, 2) for name in names]
    for (_, _, histogram), weight in zip(found[-2:], model.get_weights(), strict=True):
        assert (histogram.min, histogram.max, histogram.num) == (weight.min(), weight.max(), weight.size)


def test_histograms_of_gradients_are_those_of_the_last_batch(tmp_path: Path) -> None:
    model = compiled()
    before = model.get_weights()
    callback = TensorBoard(tmp_path, histogram_freq=1, write_grads=True)
    model.fit(X, Y, batch_size=8, verbose=0, shuffle=False, callbacks=[callback])
    # The gradient of the mean of squares, by hand.
    errors = X @ before[0] + before[1] - Y
    expected = {"kernel": 2 * (X * errors).mean(0), "bias": 2 * errors.mean(0)}
    found = {v.tag: v.histo for e in events(tmp_path) for v in e.summary.value if v.tag.endswith("_grad")}
    assert [tag.split("/")[-1] for tag in found] == ["kernel_0_grad", "bias_0_grad"]
    for histogram, gradient in zip(found.values(), expected.values(), strict=True):
        ends = [histogram.min, histogram.max, histogram.sum]
        np.testing.assert_allclose(ends, [gradient.min(), gradient.max(), gradient.sum()], rtol=1e-4)


def test_sparse_gradients_and_none(tmp_path: Path) -> None:
    model = Sequential([Embedding(5, 2, input_length=2), Flatten(), Dense(1)])
    model.compile("sgd", "mse")
    callback = TensorBoard(tmp_path, histogram_freq=1, write_grads=True)
    model.fit(np.array([[0, 1], [2, 2]]), np.ones([2, 1]), verbose=0, callbacks=[callback])
    found = {v.tag: v.histo for e in events(tmp_path) for v in e.summary.value if v.tag.endswith("_grad")}
    (embeddings,) = [histogram for tag, histogram in found.items() if "embeddings" in tag]
    assert (embeddings.num, len(found)) == (10, 3)


def test_pictures_of_weights(tmp_path: Path) -> None:
    model = Sequential(
        [Conv2D(5, 3, input_shape=(4, 4, 1), name="a"), Conv2D(2, 2, name="b"), Flatten(), Dense(3, name="d")]
    )
    model.compile("sgd", "mse")
    callback = TensorBoard(tmp_path, histogram_freq=1, write_images=True)
    model.fit(np.ones([2, 4, 4, 1]), np.ones([2, 3]), verbose=0, callbacks=[callback])
    found = {v.tag: v.image for e in events(tmp_path) for v in e.summary.value if v.HasField("image")}
    sizes = [(tag.split("/", 1)[1], image.height, image.width) for tag, image in found.items()]
    # At most three filters; the kernel of several channels has too many axes.
    assert sizes == [
        *((f"a/kernel_0/image/{number}", 3, 3) for number in range(3)),
        ("a/bias_0/image/0", 5, 1),
        ("b/bias_0/image/0", 2, 1),
        ("d/kernel_0/image/0", 2, 3),
        ("d/bias_0/image/0", 3, 1),
    ]


def graphs(folder: Path) -> list[list[str]]:
    return [[n.name for n in GraphDef.FromString(e.graph_def).node] for e in events(folder) if e.graph_def]


def test_the_graph_is_written_once_with_its_variables(tmp_path: Path) -> None:
    model = Sequential([Dense(1, name="d")])
    model.compile("sgd", "mse")
    callback = TensorBoard(tmp_path)
    model.fit(X, Y, batch_size=4, epochs=2, verbose=0, callbacks=[callback])
    assert graphs(tmp_path) == [["input", "d/kernel", "d/bias", "d"]]


def test_no_graph_where_none_is_asked_for(tmp_path: Path) -> None:
    compiled().fit(X, Y, verbose=0, callbacks=[TensorBoard(tmp_path, write_graph=False)])
    assert graphs(tmp_path) == []


@pytest.mark.parametrize(
    ("update_freq", "steps"), [("batch", [0, 1, 2, 3, 4, 5]), ("epoch", []), (4, [1, 3, 5]), (5, [2, 5]), (99, [])]
)
def test_how_often_batches_are_written(tmp_path: Path, update_freq: Any, steps: list[int]) -> None:
    callback = TensorBoard(tmp_path, update_freq=update_freq)
    compiled().fit(X[:6], Y[:6], batch_size=2, epochs=2, verbose=0, callbacks=[callback])
    assert [step for step, _ in numbers(tmp_path, "batch_loss")] == steps
    assert [step for step, _ in numbers(tmp_path, "epoch_loss")] == [0, 1]


@pytest.mark.parametrize("update_freq", [0, -1, "often", 1.5])
def test_other_frequencies_are_refused(update_freq: Any) -> None:
    with says(
        ValueError,
        f"TensorBoard: update_freq must be 'batch', 'epoch' or a positive number of examples; got {update_freq!r}.",
    ):
        TensorBoard(update_freq=update_freq)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("embeddings_freq", 1),
        ("embeddings_layer_names", ["words"]),
        ("embeddings_metadata", "words.tsv"),
        ("embeddings_data", X),
    ],
)
def test_embeddings_are_refused(name: str, value: Any) -> None:
    with says(
        NotImplementedError,
        f"TensorBoard: {name}={value!r} is not possible; leave it out, and write what you want to see with "
        "tf.contrib.summary in a callback of your own.",
    ):
        TensorBoard(**{name: value})


def test_a_batch_size_that_changes_nothing_is_told_of(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="batch_size") as caught:
        TensorBoard(tmp_path, batch_size=8)
    assert [str(each.message) for each in caught] == [
        "TensorBoard: batch_size has no effect; histograms are of the weights, and of the gradients of the batches "
        "that fit takes."
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TensorBoard(tmp_path, batch_size=32)
