"""fit, evaluate and predict: against loops written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense, Dropout, Embedding, Input, Layer
from agog_optimizers import AdamOptimizer, GradientDescentOptimizer
from agog_testing import says
from agog_training import Model, Sequence, Sequential
from agog_training.callbacks import LambdaCallback

RNG = np.random.default_rng(7)
X = RNG.normal(size=(23, 3)).astype(np.float32)
Y = RNG.normal(size=(23, 1)).astype(np.float32)
CLASSES = RNG.integers(0, 3, size=23)
WEIGHTS = RNG.uniform(0.5, 2.0, size=23).astype(np.float32)


def linear(units: int = 1, **kwargs: Any) -> Any:
    """A model whose first weights are always the same."""
    model = Sequential([Dense(units, input_shape=(3,), name="d", **kwargs)])
    start = np.random.default_rng(3).normal(size=(3, units))
    model.set_weights([start, np.zeros(units)])
    return model


def mean_squares(y: Any, p: Any) -> Any:
    return ag.reduce_mean(ag.square(p - y), -1)


def trained_by_hand(
    model: Any, epochs: int, batch: int = 8, weights: Any = None, rows: int = 23, rate: float = 0.1
) -> list[float]:
    """The losses of the epochs, by NumPy in float64."""
    kernel, bias = (w.astype(np.float64) for w in model.get_weights())
    losses = []
    for _ in range(epochs):
        total = 0.0
        for start in range(0, rows, batch):
            part = slice(start, min(start + batch, rows))
            x, y = X[part].astype(np.float64), Y[part].astype(np.float64)
            w = np.ones(len(x)) if weights is None else weights[part].astype(np.float64)
            error = x @ kernel + bias - y
            total += float((w[:, None] * error**2).sum() / w.sum()) * len(x)
            slope = 2 * w[:, None] * error / w.sum()
            kernel, bias = kernel - rate * x.T @ slope, bias - rate * slope.sum(0)
        losses.append(total / rows)
    return losses


def test_history_is_that_of_a_loop_in_numpy() -> None:
    model = linear()
    expected = trained_by_hand(model, 4)
    model.compile(GradientDescentOptimizer(0.1), "mse")
    history = model.fit(X, Y, batch_size=8, epochs=4, shuffle=False, verbose=0)
    np.testing.assert_allclose(history.history["loss"], expected, rtol=1e-5)
    assert history.epoch == [0, 1, 2, 3]
    assert model.history is history


def test_history_is_exactly_that_of_a_loop_in_ops() -> None:
    def make() -> Any:
        ag.set_random_seed(5)
        return Sequential([Dense(4, activation="relu", input_shape=(3,)), Dropout(0.5), Dense(3)])

    model, optimizer = make(), AdamOptimizer(0.01)
    expected = []
    for _ in range(3):
        order = ag.random_shuffle(ag.range(23)).numpy()
        total = 0.0
        for start in range(0, 23, 8):
            x, y = X[order[start : start + 8]], CLASSES[order[start : start + 8]]
            with ag.GradientTape() as tape:
                logits = model(x, training=True)
                loss = ag.reduce_mean(ag.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            total += float(loss) * len(x)
        expected.append(total / 23)
    again = make()
    again.compile(AdamOptimizer(0.01), lambda y, p: ag.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=p))
    assert again.fit(X, CLASSES, 8, 3, verbose=0).history["loss"] == expected
    for one, two in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


def test_weights_of_examples_and_classes() -> None:
    model = linear()
    expected = trained_by_hand(model, 2, weights=WEIGHTS)
    model.compile(GradientDescentOptimizer(0.1), "mse")
    history = model.fit(X, Y, 8, 2, sample_weight=WEIGHTS, shuffle=False, verbose=0)
    np.testing.assert_allclose(history.history["loss"], expected, rtol=1e-5)

    by_class = {0: 1.0, 1: 0.5, 2: 2.0}
    losses = []
    for arguments in (
        {"class_weight": by_class},
        {"sample_weight": np.array([by_class[int(c)] for c in CLASSES])},
    ):
        model = linear(3)
        model.compile("sgd", "sparse_categorical_crossentropy")
        losses.append(model.fit(X, CLASSES, 8, 2, shuffle=False, verbose=0, **arguments).history["loss"])
    assert losses[0] == losses[1]


class Stream:
    """Batches of eight, time and again."""

    def __init__(self, repeat: bool = True) -> None:
        self.started = 0

    def __iter__(self) -> Iterator[Any]:
        self.started += 1
        for start in range(0, 23, 8):
            yield ag.constant(X[start : start + 8]), ag.constant(Y[start : start + 8])


class Numbered(Sequence):
    """The same batches by number."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        rows = slice(8 * index, 8 * index + 8)
        return X[rows], Y[rows]


def test_streams_train_as_arrays_do() -> None:
    expected = trained_by_hand(linear(), 3)

    def forever() -> Iterator[Any]:
        while True:
            yield from Stream()

    for source, arguments in (
        (Stream(), {}),
        (Numbered(), {}),
        (Stream(), {"steps_per_epoch": 3}),
        (forever(), {"steps_per_epoch": 3}),
    ):
        model = linear()
        model.compile(GradientDescentOptimizer(0.1), "mse")
        history = model.fit(source, epochs=3, verbose=0, **arguments)
        np.testing.assert_allclose(history.history["loss"], expected, rtol=1e-5)
    model = linear()
    model.compile(GradientDescentOptimizer(0.1), "mse")
    history = model.fit_generator(forever(), 3, epochs=3, verbose=0, workers=1)
    np.testing.assert_allclose(history.history["loss"], expected, rtol=1e-5)


def test_an_epoch_goes_on_where_the_last_ended() -> None:
    seen: list[float] = []
    model = linear()
    model.compile("sgd", "mse")
    source = Stream()
    watch = LambdaCallback(on_batch_end=lambda batch, logs: seen.append((logs or {})["size"]))
    model.fit(source, epochs=3, steps_per_epoch=2, verbose=0, callbacks=[watch])
    assert seen == [8, 8, 7, 8, 8, 7]
    assert source.started == 2


def test_a_generator_that_ends_too_early_ends_the_training() -> None:
    model = linear()
    model.compile("sgd", "mse")
    advice = "A generator gives its data once: pass a Dataset, or one that repeats; or ask for fewer steps or epochs."
    cases: list[tuple[dict[str, Any], str, list[int]]] = [
        ({"epochs": 5}, "fit: an epoch needs a batch, and the data ended after 0.", [0, 1]),
        ({"epochs": 5, "steps_per_epoch": 5}, "fit: an epoch needs 5 batches, and the data ended after 3.", [0]),
    ]
    for arguments, text, epochs in cases:
        with pytest.warns(UserWarning, match="data ended") as caught:
            history = model.fit(iter(Stream()), verbose=0, **arguments)
        assert str(caught[0].message) == f"{text} {advice} There are no further epochs."
        assert history.epoch == epochs
    with says(ValueError, f"fit: an epoch needs 2 batches, and the data ended after 0. {advice}"):
        model.fit(iter([]), verbose=0, steps_per_epoch=2)


def test_validation() -> None:
    model = linear()
    model.compile(GradientDescentOptimizer(0.1), "mse", metrics=["mae"])
    history = model.fit(X, Y, 8, 2, validation_data=(X[:5], Y[:5]), shuffle=False, verbose=0).history
    assert list(history) == ["loss", "mae", "val_loss", "val_mae"]
    np.testing.assert_allclose(history["loss"], trained_by_hand(linear(), 2), rtol=1e-5)
    error = model.predict(X[:5]) - Y[:5]
    np.testing.assert_allclose(history["val_loss"][-1], (error**2).mean(), rtol=1e-5)
    np.testing.assert_allclose(history["val_mean_absolute_error"][-1], abs(error).mean(), rtol=1e-5)


def test_validation_split_takes_the_last_examples() -> None:
    model = linear()
    model.compile(GradientDescentOptimizer(0.1), "mse")
    history = model.fit(X, Y, 8, 2, validation_split=0.3, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], trained_by_hand(linear(), 2, rows=16), rtol=1e-5)
    np.testing.assert_allclose(history["val_loss"][-1], ((model.predict(X[16:]) - Y[16:]) ** 2).mean(), rtol=1e-5)


def test_shuffling_is_seeded() -> None:
    losses = []
    for seed in (1, 1, 2):
        model = linear()
        model.compile("sgd", "mse")
        ag.set_random_seed(seed)
        losses.append(model.fit(X, Y, 8, 2, verbose=0).history["loss"])
    assert losses[0] == losses[1] != losses[2]


def test_evaluate_and_predict() -> None:
    model = linear(3, activation="softmax")
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy", "ce"])
    x, kernel = X.astype(np.float64), model.get_weights()[0].astype(np.float64)
    p = np.exp(x @ kernel)
    p /= p.sum(1, keepdims=True)
    np.testing.assert_allclose(model.predict(X, batch_size=5), p, rtol=1e-5)
    np.testing.assert_allclose(model.predict_on_batch(X), p, rtol=1e-5)
    np.testing.assert_allclose(model.predict(Stream()), p, rtol=1e-5)
    loss, accuracy, entropy = model.evaluate(X, CLASSES, batch_size=5, verbose=0)
    assert model.metrics_names == ["loss", "accuracy", "ce"]
    np.testing.assert_allclose(loss, -np.log(p[np.arange(23), CLASSES]).mean(), rtol=1e-5)
    assert entropy == pytest.approx(loss, rel=1e-6)
    assert accuracy == (p.argmax(1) == CLASSES).mean()
    np.testing.assert_allclose(model.test_on_batch(X, CLASSES), [loss, accuracy, entropy], rtol=1e-6)


def test_train_on_batch() -> None:
    model = linear()
    expected = trained_by_hand(model, 2, batch=23)
    model.compile(GradientDescentOptimizer(0.1), "mse")
    np.testing.assert_allclose([model.train_on_batch(X, Y) for _ in range(2)], expected, rtol=1e-5)


def test_labels_without_the_last_axis() -> None:
    losses = []
    for labels in (Y, Y[:, 0], list(Y[:, 0].astype(float)), Y.astype(np.float64)):
        model = linear()
        model.compile("sgd", "mse")
        losses.append(model.fit(X, labels, verbose=0, shuffle=False).history["loss"])
    assert losses[0] == losses[1] == losses[2] == losses[3]


def test_arrays_of_other_precision_take_the_models() -> None:
    for dtype in ("float32", "float64"):
        model = Sequential([Dense(1, dtype=dtype, input_shape=(3,))])
        model.compile("sgd", "mse")
        model.fit(X.astype(np.float64), Y, verbose=0)
        assert model.variables[0].dtype.name == dtype


def two_outputs() -> Any:
    x, z = Input((3,), name="x"), Input((3,), name="z")
    h = Dense(2, name="h")(x)
    return Model([x, z], [Dense(1, name="a")(h), Dense(3, name="b", activation="softmax")(h + Dense(2, name="g")(z))])


def test_several_outputs() -> None:
    results = []
    for losses, loss_weights, metrics, labels in (
        (["mse", "sparse_categorical_crossentropy"], [1.0, 0.5], {"b": ["acc"]}, [Y, CLASSES]),
        (
            {"a": "mse", "b": "sparse_categorical_crossentropy"},
            {"b": 0.5},
            [[], ["acc"]],
            {"b": CLASSES, "a": Y},
        ),
    ):
        ag.set_random_seed(3)
        model = two_outputs()
        model.compile("sgd", losses, metrics, loss_weights)
        assert model.metrics_names == ["loss", "a_loss", "b_loss", "b_acc"]
        first = model.evaluate([X, X], labels, verbose=0)
        assert first[0] == pytest.approx(first[1] + 0.5 * first[2], rel=1e-6)
        history = model.fit({"x": X, "z": X}, labels, shuffle=False, verbose=0).history
        results.append((first, history))
        assert [part.shape for part in model.predict([X, X])] == [(23, 1), (23, 3)]
    assert results[0] == results[1]


def test_an_output_without_loss() -> None:
    model = two_outputs()
    model.compile("sgd", {"a": "mse"})
    assert model.metrics_names == ["loss", "a_loss"]
    assert list(model.fit([X, X], {"a": Y}, verbose=0).history) == ["loss", "a_loss"]


def test_derived_model_with_a_dict_of_outputs() -> None:
    class Derived(Model):
        def __init__(self) -> None:
            super().__init__(name="derived")
            self.a, self.b = Dense(1), Dense(3, activation="softmax")

        def call(self, inputs: Any) -> Any:
            return {"number": self.a(inputs), "kind": self.b(inputs)}

    model = Derived()
    model.compile("adam", {"number": "mse", "kind": "sparse_categorical_crossentropy"})
    history = model.fit(X, {"number": Y, "kind": CLASSES}, verbose=0).history
    assert list(history) == ["loss", "kind_loss", "number_loss"]
    assert {key: value.shape for key, value in model.predict(X).items()} == {"number": (23, 1), "kind": (23, 3)}


def test_losses_of_layers_count() -> None:
    class Penalty(Layer):
        def call(self, inputs: Any) -> Any:
            self.add_loss(3.0 * ag.reduce_mean(inputs))
            return inputs

    model = Sequential([Penalty(), Dense(1, kernel_initializer="zeros", kernel_regularizer=lambda w: 5.0)])
    model.compile("sgd", "mse")
    loss = model.test_on_batch(X, Y)
    np.testing.assert_allclose(loss, (Y**2).mean() + 3 * X.mean() + 5, rtol=1e-5)


def test_frozen_layers_are_not_trained() -> None:
    inner = Sequential([Dense(4, input_shape=(3,)), Dense(2)])
    model = Sequential([inner, Dense(1)])
    inner.trainable = False
    model.compile("sgd", "mse")
    before = model.get_weights()
    model.fit(X, Y, verbose=0)
    after = {v.name: v.numpy() for v in model.variables}
    changed = [not np.array_equal(after[v.name], w) for v, w in zip(model.variables, before, strict=True)]
    assert changed == [False, False, False, False, True, True]
    inner.layers[0].trainable = False
    inner.trainable = True
    assert len(model.trainable_variables) == 4


def test_metric_objects_and_functions() -> None:
    class Counter:
        """A metric that counts batches."""

        name = "batches"

        def __init__(self) -> None:
            self.count = 0

        def __call__(self, y: Any, p: Any) -> None:
            self.count += 1

        def result(self) -> float:
            return float(self.count)

        def reset_states(self) -> None:
            self.count = 0

    def largest(y: Any, p: Any) -> Any:
        return ag.reduce_max(p)

    model = linear()
    model.compile("sgd", "mse", metrics=[Counter(), largest])
    history = model.fit(X, Y, 8, 2, verbose=0).history
    assert history["batches"] == [3.0, 3.0]
    parts = [model.predict(X[start : start + 8]) for start in range(0, 23, 8)]
    expected = sum(part.max() * len(part) for part in parts) / 23
    np.testing.assert_allclose(model.evaluate(X, Y, 8, verbose=0)[2], expected, rtol=1e-6)


def test_masked_steps_do_not_count() -> None:
    x = RNG.integers(1, 5, size=(6, 4))
    x[0, 2:] = x[3, 1:] = 0
    y = RNG.normal(size=(6, 4, 2)).astype(np.float32)
    model = Sequential([Embedding(5, 2, mask_zero=True, input_length=4)])
    model.compile("sgd", "mse", metrics="mse", weighted_metrics=[lambda y, p: ag.reduce_mean(ag.square(y - p), -1)])
    table = model.get_weights()[0]
    each = ((table[x] - y) ** 2).mean(-1)
    for weights in (None, WEIGHTS[:6]):
        steps = (x != 0) * (1.0 if weights is None else weights[:, None])
        loss, metric, weighted = model.test_on_batch(x, y, weights)
        np.testing.assert_allclose(loss, (each * steps).sum() / steps.sum(), rtol=1e-5)
        np.testing.assert_allclose(metric, each[x != 0].mean(), rtol=1e-5)
        np.testing.assert_allclose(weighted, loss, rtol=1e-5)


def test_weighted_metrics() -> None:
    model = linear()
    model.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mae"])
    values = model.evaluate(X, Y, batch_size=8, sample_weight=WEIGHTS, verbose=0)[1:]
    assert model.metrics_names == ["loss", "mae", "weighted_mae"]
    error = abs(model.predict(X) - Y)[:, 0]
    np.testing.assert_allclose(values, [error.mean(), np.average(error, weights=WEIGHTS)], rtol=1e-5)


def test_training_argument() -> None:
    seen: list[Any] = []

    class Spy(Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = Dense(1)

        def call(self, inputs: Any, training: Any = None) -> Any:
            seen.append(training)
            return self.dense(inputs)

    model = Spy()
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0, validation_data=(X, Y), batch_size=23)
    model.predict(X)
    assert seen == [True, False, False]


def test_initial_epoch_and_seeds_of_epochs() -> None:
    model = linear()
    model.compile("sgd", "mse")
    assert model.fit(X, Y, epochs=5, initial_epoch=3, verbose=0).epoch == [3, 4]


def test_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    model = linear()
    model.set_weights([np.zeros((3, 1)), np.zeros(1)])
    model.compile(GradientDescentOptimizer(0.0), "mse")
    model.fit(X, np.ones(23), epochs=2, verbose=2)
    assert capsys.readouterr().out == "Epoch 1/2  loss: 1.0000\nEpoch 2/2  loss: 1.0000\n"
    model.fit(X, np.ones(23), verbose=0)
    assert capsys.readouterr() == ("", "")
    model.fit(X, np.ones(23))
    model.evaluate(X, np.ones(23))
    model.predict(X, verbose=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Epoch 1/1: 100%" in err
    assert "loss: 1.0000" in err


def compiled_with(loss: Any) -> Any:
    model = Sequential([Dense(1)], name="c")
    model.compile("sgd", loss)
    return model


def test_errors() -> None:
    model = linear()
    model.compile("sgd", "mse")
    nameless = Sequential([Dense(1)], name="nameless")
    two = two_outputs()
    two.compile("sgd", "mse")
    cases: list[tuple[type[Exception], Any, str]] = [
        (
            RuntimeError,
            lambda: nameless.fit(X, Y),
            "Model 'nameless' has no loss and no optimizer: call model.compile(optimizer, loss) before training or "
            "evaluating.",
        ),
        (
            ValueError,
            lambda: model.fit(X, Y[:5]),
            "fit: the arrays must have equally many examples; got x 23, y 5.",
        ),
        (ValueError, lambda: model.fit(X[:0], Y[:0]), "fit: there are no examples: the arrays are empty."),
        (ValueError, lambda: model.fit(X, Y, 0), "fit: batch_size must be at least 1; got 0."),
        (
            ValueError,
            lambda: model.fit(Stream(), Y),
            "fit: `y` argument is not supported when input `x` is a Stream: you should not specify a target, since it "
            "gives batches (x, y) itself.",
        ),
        (
            ValueError,
            lambda: model.fit(Stream(), sample_weight=Y),
            "fit: `sample_weight` argument is not supported when input `x` is a Stream: It gives batches (x, y) or (x, "
            "y, sample_weight) itself.",
        ),
        (
            TypeError,
            lambda: model.compile("sgd", "mse", metrics=abs),
            "Type of `metrics` argument not understood. Expected a list or dictionary, found: <built-in function abs>. "
            "Write metrics=[...] around it.",
        ),
        (
            TypeError,
            lambda: model.fit(None),
            "fit: x must be arrays, or something to iterate over that gives batches, as a Dataset does; got None of "
            "type NoneType.",
        ),
        (
            ValueError,
            lambda: model.fit([(X, Y, Y, Y)].__iter__()),
            "fit: data must give x, (x, y) or (x, y, sample_weight); got a tuple of 4.",
        ),
        (
            ValueError,
            lambda: model.fit(X, Y, validation_split=1.5),
            "fit: validation_split must leave examples on both sides; got 1.5 for 23 examples.",
        ),
        (
            ValueError,
            lambda: model.fit(Stream(), validation_split=0.5),
            "fit: `validation_split` argument is not supported when input `x` is a Stream: Pass validation_data "
            "instead.",
        ),
        (
            ValueError,
            lambda: model.fit(X, Y, validation_data=(X,)),
            "fit: validation_data must be (x, y), (x, y, sample_weight), or batches; got a tuple of 1.",
        ),
        (
            ValueError,
            lambda: model.fit(X, CLASSES, class_weight={0: 1.0}),
            "fit: class_weight has no weights for the classes [1, 2]; it has {0: 1.0}.",
        ),
        (
            ValueError,
            lambda: two.fit([X, X], [Y, Y], class_weight={0: 1.0}),
            "fit: class_weight goes with one array of labels; pass sample_weight instead.",
        ),
        (
            ValueError,
            lambda: two.train_on_batch([X, X], Y),
            f"Model '{two.name}': there are 2 outputs, ['a', 'b'], so labels must be a list or dict; got one array "
            "of shape (23, 1).",
        ),
        (
            ValueError,
            lambda: two.train_on_batch([X, X], [Y]),
            f"Model '{two.name}': labels has 1 parts; there are 2 outputs: ['a', 'b'].",
        ),
        (
            ValueError,
            lambda: two.train_on_batch([X, X], {"a": Y}),
            f"Model '{two.name}': no labels for the outputs ['b']; got ['a'].",
        ),
        (
            ValueError,
            lambda: two.compile("sgd", ["mse"]),
            f"Model '{two.name}': loss has 1 entries; there are 2 outputs: ['a', 'b'].",
        ),
        (
            ValueError,
            lambda: two.compile("sgd", {"c": "mse"}),
            f"Model '{two.name}': loss has ['c'], but the outputs are ['a', 'b'].",
        ),
        (
            ValueError,
            lambda: model.compile("sgd", "mse", sample_weight_mode="spatial"),
            f"Model '{model.name}': sample_weight_mode must be None or 'temporal'; got 'spatial'.",
        ),
        (
            ValueError,
            lambda: compiled_with(None).fit(X, Y, verbose=0),
            "Model 'c' has no loss: name one in compile(loss=...), or use add_loss.",
        ),
        (
            ValueError,
            lambda: compiled_with(lambda y, p: ag.reduce_mean(p)).fit(X, Y, sample_weight=WEIGHTS, verbose=0),
            "sample_weight and class_weight need a loss that gives one number for each example, as those of "
            "tf.keras.losses do; this one gives one for the batch.",
        ),
    ]
    for kind, use, text in cases:
        with says(kind, text):
            use()
