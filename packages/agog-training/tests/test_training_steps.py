"""Steps of a model's own, results as dicts, and what the progress bar shows."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense
from agog_layers.metrics.keras import Mean
from agog_optimizers import GradientDescentOptimizer
from agog_testing import says
from agog_training import Model, Sequential
from agog_training.callbacks import Callback, LambdaCallback, ProgbarLogger

RNG = np.random.default_rng(5)
X = RNG.normal(size=(20, 3))  # float64, where the model has float32
Y = RNG.normal(size=(20, 1)).astype(np.float32)


class Linear(Model):
    """A layer whose first weights are zeros."""

    def __init__(self) -> None:
        super().__init__(name="linear")
        self.dense = Dense(1, kernel_initializer="zeros")

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)


class Own(Linear):
    """Steps of its own, which keep what they were given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def train_step(self, data: Any) -> dict[str, Any]:
        self.seen.append(("train", data))
        x, y = data[:2]
        with ag.GradientTape() as tape:
            loss = ag.reduce_mean(ag.square(self(x) - y))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return {"loss": loss, "twice": 2 * loss}

    def test_step(self, data: Any) -> dict[str, Any]:
        self.seen.append(("test", data))
        return {"rows": ag.nest.flatten(data)[0].shape[0]}

    def predict_step(self, data: Any) -> Any:
        self.seen.append(("predict", data))
        return -self(data)


def compiled(model: Any, *arguments: Any, **options: Any) -> Any:
    model.compile(GradientDescentOptimizer(0.1), *arguments, **options)
    return model


def losses_by_hand(batch: int) -> list[float]:
    """The loss of each batch, by NumPy in float64."""
    kernel, bias, losses = np.zeros((3, 1)), 0.0, []
    for start in range(0, 20, batch):
        x, y = X[start : start + batch], Y[start : start + batch].astype(np.float64)
        error = x @ kernel + bias - y
        losses.append(float((error**2).mean()))
        kernel, bias = kernel - 0.2 * x.T @ error / len(x), bias - 0.2 * error.mean()
    return losses


def test_a_train_step_of_its_own_is_called() -> None:
    model = compiled(Own())
    told: list[Any] = []
    watch = LambdaCallback(on_batch_end=lambda batch, logs: told.append(logs))
    history = model.fit(X, Y, 8, shuffle=False, verbose=0, validation_data=(X, Y), callbacks=[watch]).history
    losses = losses_by_hand(8)
    np.testing.assert_allclose([each["loss"] for each in told], losses, rtol=1e-5)
    np.testing.assert_allclose([each["twice"] for each in told], 2 * np.array(losses), rtol=1e-5)
    np.testing.assert_allclose(history["loss"], losses[-1:], rtol=1e-5)
    assert history["val_rows"] == [4.0]  # of the last batch
    assert [(kind, data[0].shape, data[0].dtype.name, len(data)) for kind, data in model.seen] == [
        ("train", [8, 3], "float32", 2),
        ("train", [8, 3], "float32", 2),
        ("train", [4, 3], "float32", 2),
        ("test", [8, 3], "float32", 2),
        ("test", [8, 3], "float32", 2),
        ("test", [4, 3], "float32", 2),
    ]


def test_other_calls_take_the_steps_too() -> None:
    model = compiled(Own())
    assert model.train_on_batch(X, Y) == pytest.approx([losses_by_hand(20)[0], 2 * losses_by_hand(20)[0]], rel=1e-5)
    assert model.test_on_batch(X, Y) == 20.0
    assert model.evaluate(X, Y, 8, verbose=0, return_dict=True) == {"rows": 4.0}
    expected = -(X @ model.dense.kernel.numpy() + model.dense.bias.numpy())
    np.testing.assert_allclose(model.predict(X, 8), expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.predict_on_batch(X), expected, rtol=1e-4, atol=1e-6)
    kinds = [kind for kind, _ in model.seen]
    assert kinds == ["train", "test", *["test"] * 3, *["predict"] * 3, "predict"]


def test_what_steps_get() -> None:
    model = compiled(Own())
    model.train_on_batch(X, Y, np.ones(20, np.float32))
    model.test_on_batch((X, X))
    model.predict_on_batch(X)
    (_, weighted), (_, inputs), (_, alone) = model.seen
    assert [part.shape for part in weighted] == [[20, 3], [20, 1], [20]]
    assert isinstance(inputs, tuple)
    assert [len(part) for part in inputs] == [2]
    assert alone.shape == [20, 3]


def test_a_step_may_go_on_with_the_models() -> None:
    class More(Linear):
        def train_step(self, data: Any) -> dict[str, Any]:
            return super().train_step(data) | {"more": 1.0}

    class Spy(Callback):
        def __init__(self) -> None:
            self.count = 0

        def on_gradients(self, gradients: Any) -> None:
            self.count += len(gradients)

    spy = Spy()
    plain, more = compiled(Linear(), "mse", ["mae"]), compiled(More(), "mse", ["mae"])
    expected = plain.fit(X, Y, 8, 2, shuffle=False, verbose=0).history
    found = more.fit(X, Y, 8, 2, shuffle=False, verbose=0, callbacks=[spy]).history
    assert found == expected | {"more": [1.0, 1.0]}
    assert spy.count == 2 * 3 * 2
    assert "_on_gradients" not in vars(more)


@pytest.mark.parametrize("jit", [False, True])
def test_a_step_asks_once_which_variables_are_trained(jit: bool) -> None:
    class Asked(Linear):
        count = 0

        @property
        def trainable_variables(self) -> list[Any]:
            type(self).count += 1
            return super().trainable_variables

    class Spy(Callback):
        def __init__(self) -> None:
            self.names: list[list[str]] = []

        def on_gradients(self, gradients: Any) -> None:
            self.names.append([variable.name for _, variable in gradients])

    model, spy = compiled(Asked(), "mse", jit_compile=jit), Spy()
    model.fit(X, Y, 10, verbose=0)
    model.fit(X, Y, 10, verbose=0)  # the variables are there, and the steps traced
    Asked.count = 0
    model.fit(X, Y, 10, 3, verbose=0, callbacks=[spy])
    assert Asked.count == 2 * 3
    assert spy.names == [[variable.name for variable in model.dense.variables]] * 6


def test_metrics_of_a_model_begin_anew_in_each_epoch() -> None:
    class Counting(Linear):
        def __init__(self) -> None:
            super().__init__()
            self.rows = Mean(name="rows")

        @property
        def metrics(self) -> list[Any]:
            return [self.rows]

        def train_step(self, data: Any) -> dict[str, Any]:
            self.rows.update_state(data[0].shape[0])
            return {"rows": self.rows.result()}

    history = compiled(Counting()).fit(X, Y, 8, 2, verbose=0).history
    np.testing.assert_allclose(history["rows"], [20 / 3, 20 / 3], rtol=1e-6)


def test_a_step_that_returns_something_else() -> None:
    class Wrong(Linear):
        def train_step(self, data: Any) -> Any:
            return 3.0

    with says(TypeError, "Model 'linear': train_step must return a dict of names to numbers; got 3.0 of type float."):
        compiled(Wrong()).fit(X, Y, verbose=0)


def test_results_as_a_dict() -> None:
    model = compiled(Linear(), "mse", ["mae"])
    values = model.evaluate(X, Y, verbose=0)
    assert model.evaluate(X, Y, verbose=0, return_dict=True) == dict(zip(model.metrics_names, values, strict=True))
    assert model.test_on_batch(X, Y, return_dict=True) == dict(
        zip(model.metrics_names, model.test_on_batch(X, Y), strict=True)
    )
    assert list(model.train_on_batch(X, Y, return_dict=True)) == ["loss", "mae"]
    alone = compiled(Linear(), "mse")
    assert alone.evaluate(X, Y, verbose=0, return_dict=True) == {"loss": alone.evaluate(X, Y, verbose=0)}


def test_what_goes_round_forever_needs_steps() -> None:
    model = compiled(Linear(), "mse")
    with says(
        ValueError,
        "fit: the data never ends, so you should specify the `steps_per_epoch` argument, the number of batches to "
        "take; or end the data with dataset.take(n), or with dataset.repeat(n) in place of dataset.repeat().",
    ):
        model.fit(cycle([(X, Y)]), verbose=0)
    assert len(model.fit(cycle([(X, Y)]), steps_per_epoch=2, verbose=0).history["loss"]) == 1


def test_bars_show_the_mean_of_the_loss_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    import tqdm

    shown: list[str] = []

    class Bar(tqdm.tqdm):  # type: ignore[type-arg]
        def set_postfix_str(self, s: str = "", refresh: bool = True) -> None:
            shown.append(s)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    model = Sequential([Dense(1, kernel_initializer="zeros", input_shape=(3,))])
    compiled(model, "mse", ["mae"])
    model.optimizer = GradientDescentOptimizer(0.0)
    y = Y[:, 0].astype(np.float64)
    parts = [y[:8], y[:16], y]
    expected = [f"loss: {(part**2).mean():.4f}  mae: {abs(part).mean():.4f}" for part in parts]
    model.fit(X, Y, 8, shuffle=False)
    assert shown == [*expected, expected[-1]]
    shown.clear()
    model.evaluate(X, Y, 8)
    assert shown == expected


@pytest.mark.parametrize(
    ("mode", "total", "moved", "unit"), [("samples", 20, [8, 8, 4], "example"), ("steps", 3, [1] * 3, "batch")]
)
def test_bars_count_examples_or_batches(
    mode: str, total: int, moved: list[int], unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tqdm

    bars: list[Any] = []

    class Bar(tqdm.tqdm):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.steps: list[Any] = []
            bars.append(self)

        def update(self, n: float | None = 1) -> bool | None:
            self.steps.append(n)
            return super().update(n)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    model = Sequential([Dense(1, input_shape=(3,))])
    compiled(model, "mse")
    logger = ProgbarLogger(count_mode=mode)
    model.fit(X[:20], Y[:20], 8, verbose=1, callbacks=[logger])
    bar = next(each for each in bars if each.unit == unit and each.steps == moved)
    assert (bar.total, bar.n) == (total, total)


def test_a_bar_counts_nothing_else() -> None:
    with says(ValueError, "ProgbarLogger: count_mode must be 'samples' or 'steps'; got 'batches'."):
        ProgbarLogger("batches")
