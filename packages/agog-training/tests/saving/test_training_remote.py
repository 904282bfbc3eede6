"""Models, weights and callbacks whose files are at URLs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_checkpoint import latest_checkpoint, list_variables
from agog_core.errors import AlreadyExistsError
from agog_core.files import copy, retries
from agog_layers import Dense
from agog_testing import says
from agog_training import Sequential
from agog_training.callbacks import BackupAndRestore, Callback, CSVLogger, ModelCheckpoint, TensorBoard
from agog_training.initialization import init_from_checkpoint
from agog_training.saving.model_file import load_model

pytest.importorskip("fsspec", reason="fsspec, which opens URLs, is not installed")

from agog_testing.stores import FailingStore, Faults, failing_store

URL = "failing://bucket/run"


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FailingStore]]:
    monkeypatch.setattr(retries.time, "sleep", lambda seconds: None)
    with failing_store() as store:
        yield store


def network() -> Any:
    model = Sequential([Dense(3, input_shape=(2,)), Dense(1)])
    model.compile("adam", "mse")
    return model


def fit(model: Any, epochs: int, *callbacks: Any) -> Any:
    x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(16, 2)
    y = x.sum(1, keepdims=True)
    return model.fit(x, y, epochs=epochs, verbose=0, batch_size=4, shuffle=False, callbacks=list(callbacks))


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one.get_weights(), other.get_weights(), strict=True))


def test_whole_models(store: type[FailingStore]) -> None:
    model = network()
    fit(model, 1)
    model.save(f"{URL}/model.agog")
    again = load_model(f"{URL}/model.agog")
    assert same(again, model)
    fit(model, 1)
    fit(again, 1)
    assert same(again, model)
    with says(AlreadyExistsError, f"Model.save: {URL}/model.agog exists; pass overwrite=True to replace it."):
        model.save(f"{URL}/model.agog", overwrite=False)


def test_weights(store: type[FailingStore]) -> None:
    model, other = network(), network()
    model.save_weights(f"{URL}/weights")
    other.load_weights(f"{URL}/weights")
    assert same(other, model)
    assert latest_checkpoint(URL) == f"{URL}/weights"
    third = network()
    init_from_checkpoint(f"{URL}/weights", {"model/layers/0/kernel": third.layers[0].kernel})
    np.testing.assert_array_equal(third.get_weights()[0], model.get_weights()[0])


def test_a_file_of_keras(store: type[FailingStore], tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py, which reads files of Keras, is not installed")
    model = network()
    with h5py.File(tmp_path / "w.h5", "w") as file:
        names = []
        for layer in model.layers:
            names.append(layer.name.encode())
            group = file.create_group(layer.name)
            group.attrs["weight_names"] = [b"kernel:0", b"bias:0"]
            for name, value in zip(("kernel:0", "bias:0"), layer.get_weights(), strict=True):
                group[name] = value + 1
        file.attrs["layer_names"] = names
    expected = [value + 1 for value in model.get_weights()]
    copy(f"{tmp_path}/w.h5", f"{URL}/w.h5")
    model.load_weights(f"{URL}/w.h5")
    for found, value in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(found, value)


def test_callbacks(store: type[FailingStore]) -> None:
    log = CSVLogger(f"{URL}/log.csv")
    history = fit(network(), 3, log, ModelCheckpoint(f"{URL}/c-{{epoch}}"), TensorBoard(f"{URL}/logs"))
    rows = list(csv.DictReader(io.StringIO(store.store["/bucket/run/log.csv"].getvalue().decode(), newline="")))
    assert [float(row["loss"]) for row in rows] == history.history["loss"]
    names = sorted(store.store)
    assert [name for name in names if "/c-" in name] == [f"/bucket/run/c-{n}.safetensors" for n in (1, 2, 3)]
    assert sum("events.out.tfevents" in name for name in names) == 1
    fit(network(), 2, CSVLogger(f"{URL}/log.csv", append=True))
    assert store.store["/bucket/run/log.csv"].getvalue().count(b"\n") == 6
    assert "model/layers/0/kernel" in dict(list_variables(f"{URL}/c-3"))


def test_a_training_goes_on_after_it_was_interrupted(store: type[FailingStore]) -> None:
    class Interrupt(Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            if epoch == 1:
                raise KeyboardInterrupt

    whole = network()
    start = [value.copy() for value in whole.get_weights()]
    fit(whole, 4)
    model = network()
    model.set_weights(start)
    store.faults = Faults(3, ConnectionResetError(), times=2)
    with pytest.raises(KeyboardInterrupt):
        fit(model, 4, BackupAndRestore(f"{URL}/backup"), Interrupt())
    other = network()
    history = fit(other, 4, BackupAndRestore(f"{URL}/backup"))
    assert history.epoch == [2, 3]
    assert same(other, whole)
    assert not store.store
