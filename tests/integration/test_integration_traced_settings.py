"""Settings and attributes that change between calls: traced functions go on with the bits of eager ones."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog as tf

K, layers = tf.keras.backend, tf.keras.layers
X = np.random.default_rng(0).normal(size=(4, 3)).astype("f4")

# Makes a traced function of one, or leaves it as it is.
Wrap = Callable[[Any], Any]
PROGRAMS: list[Callable[[Wrap], Any]] = []


def program(run: Callable[[Wrap], Any]) -> Callable[[Wrap], Any]:
    PROGRAMS.append(run)
    return run


def calls(f: Callable[..., Any], *changes: Callable[[], Any]) -> list[Any]:
    """What a function gives before changes, twice, and after each of them, twice."""
    x = tf.constant(X)
    found = [f(x), f(x)]
    for change in changes:
        change()
        found += [f(x), f(x)]
    return found


def setting(owner: Any, name: str, *values: Any) -> list[Callable[[], None]]:
    return [lambda value=value: setattr(owner, name, value) for value in values]


@program
def the_learning_phase(wrap: Wrap) -> Any:
    dropout, norm = layers.Dropout(0.5), layers.BatchNormalization()
    f = wrap(lambda x: norm(dropout(x)))
    return calls(f, *(lambda value=value: K.set_learning_phase(value) for value in (1, 0, 1, 0)))


@program
def epsilon(wrap: Wrap) -> Any:
    return calls(wrap(lambda x: x + K.epsilon()), *(lambda e=e: K.set_epsilon(e) for e in (0.5, 1e-7)))


@program
def floats(wrap: Wrap) -> Any:
    return calls(wrap(lambda x: K.cast_to_floatx(x)), lambda: K.set_floatx("float32"))


@program
def the_policy(wrap: Wrap) -> Any:
    f = wrap(lambda x: layers.Activation("tanh")(x))
    choose = tf.keras.mixed_precision.set_global_policy
    return calls(f, lambda: choose("mixed_float16"), lambda: choose(None))


@program
def variables_in_the_precision_of_a_layer(wrap: Wrap) -> Any:
    class Own(layers.Layer):
        def build(self, shape: Any) -> None:
            self.scale = self.add_weight("scale", [3], initializer="ones")
            self.built = True

        def call(self, x: Any) -> Any:
            return inner(x)

    layer = Own(dtype="mixed_float16")
    inner = wrap(lambda x: layer.scale.value() * 1.0001)
    x = tf.constant(X)
    return [inner(x) if layer.built else layer(x), inner(x), layer(x), inner(x), layer(x)]


@program
def names_of_variables(wrap: Wrap) -> Any:
    f = wrap(lambda x: x * tf.get_variable("w", [3], initializer=tf.random_normal_initializer()))
    found, x = [], tf.constant(X)
    one, two = tf.contrib.eager.EagerVariableStore(), tf.contrib.eager.EagerVariableStore()
    for store in (one, two, one, two):
        with store.as_default():
            for scope in ("a", "b", "a"):
                with tf.variable_scope(scope):
                    found.append(f(x))
    return found


def trained(wrap: Wrap, optimizer: Any, *changes: Callable[[], Any]) -> Any:
    w = tf.Variable(X[0])

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x * w))
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return w.value()

    return calls(wrap(step), *changes)


@program
def clipping(wrap: Wrap) -> Any:
    optimizer = tf.keras.optimizers.SGD(0.01, clipnorm=1.0)
    changes = setting(optimizer, "clipnorm", 0.5, None) + setting(optimizer, "clipvalue", 0.125, None)
    return trained(wrap, optimizer, *changes, *setting(optimizer, "global_clipnorm", 0.25, None))


@program
def rates(wrap: Wrap) -> Any:
    optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.5)
    changes = setting(optimizer, "lr", 0.02, 0.005) + setting(optimizer, "momentum", 0.25)
    return trained(wrap, optimizer, *changes, *setting(optimizer, "nesterov", True), *setting(optimizer, "decay", 0.5))


@program
def constraints(wrap: Wrap) -> Any:
    w = tf.Variable(X[0])
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    f = wrap(lambda x: (optimizer.apply_gradients([(x[0], w)]), w.value())[1])
    return calls(f, *setting(w, "constraint", tf.nn.relu, tf.abs, None))


def model_of_two() -> Any:
    made = tf.keras.Sequential([layers.Dense(3, activation="tanh"), layers.Dense(2)])
    made(tf.constant(X))
    return made


@program
def frozen_variables(wrap: Wrap) -> Any:
    model, optimizer = model_of_two(), tf.train.GradientDescentOptimizer(0.1)

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(model(x)))
        variables = tape.watched_variables()
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return model(x)

    first, second = model.layers
    changes = [*setting(first, "trainable", False, True), *setting(second.bias, "trainable", False)]
    return calls(wrap(step), *changes, *setting(model, "trainable", True))


@program
def weights_of_losses(wrap: Wrap) -> Any:
    x = tf.keras.Input([3])
    model = tf.keras.Model(x, [layers.Dense(1, name="a")(x), layers.Dense(1, name="b")(x)])

    def compiled(*weights: float) -> None:
        model.compile("sgd", "mse", loss_weights=list(weights))

    labels = [tf.constant(X[:, :1]), tf.constant(X[:, 1:2])]
    f = wrap(lambda x: model.compute_loss(x, labels, model(x)))
    compiled(1.0, 2.0)
    return calls(f, lambda: compiled(3.0, 0.5), lambda: compiled(1.0, 2.0))


@program
def penalties(wrap: Wrap) -> Any:
    regularizer = tf.keras.regularizers.l2(0.5)
    layer = layers.Dense(2, kernel_regularizer=regularizer)
    layer(tf.constant(X))
    f = wrap(lambda x: tf.add_n(layer.losses) + tf.reduce_sum(layer(x)))
    return calls(f, *setting(regularizer, "l2", 0.25), lambda: layer.add_loss(lambda: tf.constant(3.0)))


@program
def losses(wrap: Wrap) -> Any:
    loss = tf.keras.losses.Huber(1.0)
    f = wrap(lambda x: loss(x, x * 2.0))
    return calls(f, *setting(loss, "delta", 0.5, 1.0), *setting(loss, "reduction", "sum"))


@program
def layers_that_are_added(wrap: Wrap) -> Any:
    model = model_of_two()
    return calls(wrap(lambda x: model(x)), lambda: model.add(layers.Dense(2)), model.pop)


@program
def layers_in_place_of_others(wrap: Wrap) -> Any:
    class Own(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.scale = layers.Dense(3), 2.0

        def call(self, x: Any) -> Any:
            return self.first(x) * self.scale

        def half(self, x: Any) -> Any:
            return self.scale * x

    model = Own()
    model(tf.constant(X))
    f = wrap(lambda x: model(x) + model.half(x))
    return calls(f, *setting(model, "scale", 3.0, -0.0, 0.0), *setting(model, "first", layers.ReLU(), model.first))


@program
def methods(wrap: Wrap) -> Any:
    class Own(layers.Layer):
        scale = 2.0

    setattr(Own, "call", wrap(lambda self, x: x * self.scale))  # noqa: B010
    one, two = Own(), Own()
    found = calls(one, *setting(one, "scale", 3.0), *setting(two, "scale", 5.0)) + calls(two)
    one.call = lambda x: -x
    return [*found, *calls(wrap(lambda x: one(x)), *setting(one, "call", lambda x: x + 1.0))]


@program
def attributes_that_appear(wrap: Wrap) -> Any:
    layer = layers.Layer()
    f = wrap(lambda x: x * getattr(layer, "scale", 1.0))
    return calls(f, *setting(layer, "scale", 3.0), lambda: delattr(layer, "scale"))


@program
def branches(wrap: Wrap) -> Any:
    layer = layers.LeakyReLU(0.5)
    rate = layers.Dropout(0.25)

    def f(x: Any, n: Any) -> Any:
        return layer(x) if n > 0 else x * rate.rate

    g = wrap(f)
    both = [lambda x: g(x, tf.constant(1)), lambda x: g(x, tf.constant(-1))]
    changes = setting(layer, "alpha", 0.25) + setting(rate, "rate", 0.75) + setting(layer, "alpha", 0.5)
    return calls(lambda x: [each(x) for each in both], *changes)


@program
def under_tapes(wrap: Wrap) -> Any:
    layer = layers.LeakyReLU(0.5)
    f = wrap(lambda x: layer(x) * x)

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

    phase = [lambda: K.set_learning_phase(1), lambda: K.set_learning_phase(0)]
    return calls(gradient, *setting(layer, "alpha", 0.25), *phase, *setting(layer, "alpha", 0.5))


@program
def functions_in_functions(wrap: Wrap) -> Any:
    layer = layers.LeakyReLU(0.5)
    inner = wrap(lambda x: layer(x))
    return calls(wrap(lambda x: inner(x) + 1.0), *setting(layer, "alpha", 0.25, 0.5))


@program
def layers_of_the_first_call(wrap: Wrap) -> Any:
    made: list[Any] = []

    def f(x: Any) -> Any:
        if not made:
            made.append(layers.ThresholdedReLU(0.5))
        return made[0](x)

    return calls(wrap(f), lambda: setattr(made[0], "theta", 0.25))


@program
def modules(wrap: Wrap) -> Any:
    class Own(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = 2.0

    own = Own()
    return calls(wrap(lambda x: x * own.scale), *setting(own, "scale", 3.0))


def fitted(jit_compile: bool, change: Callable[[Any], None]) -> Any:
    """What a model learns that is changed between epochs."""
    tf.set_random_seed(5)
    model = tf.keras.Sequential([layers.Dense(4, activation="tanh"), layers.Dropout(0.5), layers.Dense(2)])
    model.compile(tf.keras.optimizers.Adam(0.01), "mse", metrics=["mae"], jit_compile=jit_compile)
    found, y = [], X[:, :2]
    for _ in range(3):
        found.append([model.fit(X, y, batch_size=2, epochs=2, verbose=0).history, model.predict(X).tobytes()])
        found.append([model.evaluate(X, y, verbose=0), model.train_on_batch(X, y)])
        change(model)
    return found, [each.tobytes() for each in model.get_weights()]


def toggled(layer: Any) -> None:
    layer.trainable = not layer.trainable


CHANGES: dict[str, Callable[[Any], None]] = {
    "nothing": lambda model: None,
    "the rate": lambda model: setattr(model.layers[1], "rate", model.layers[1].rate / 2),
    "the activation": lambda model: setattr(model.layers[0], "activation", tf.sin),
    "clipnorm": lambda model: setattr(model.optimizer, "clipnorm", 0.01),
    "clipvalue": lambda model: setattr(model.optimizer, "clipvalue", 0.001),
    "global_clipnorm": lambda model: setattr(model.optimizer, "global_clipnorm", 0.01),
    "the learning rate": lambda model: setattr(model.optimizer, "lr", model.optimizer.lr / 2),
    "another optimizer": lambda model: setattr(model, "optimizer", tf.keras.optimizers.SGD(0.5)),
    "what is trained": lambda model: toggled(model.layers[0]),
    "one variable": lambda model: toggled(model.layers[0].bias),
    "the loss": lambda model: model.compile("sgd", "mae", loss_weights=[0.5], jit_compile=model._compiled is not None),
    "a penalty": lambda model: model.layers[0].add_loss(lambda: tf.reduce_sum(tf.abs(model.layers[0].kernel))),
    "a constraint": lambda model: setattr(model.layers[0].kernel, "constraint", tf.nn.relu),
    "the phase": lambda model: K.set_learning_phase(1),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changes_between_epochs(change: Callable[[Any], None]) -> None:
    eager = fitted(False, change)
    K.set_learning_phase(0)
    assert fitted(True, change) == eager


@pytest.fixture(autouse=True)
def _as_before() -> Any:
    yield
    K.set_learning_phase(0)
    K.set_epsilon(1e-7)
    tf.keras.mixed_precision.set_global_policy(None)


def bits(found: Any) -> Any:
    if isinstance(found, (list, tuple)):
        return [bits(each) for each in found]
    array = np.asarray(found.numpy())
    return array.dtype.name, array.shape, array.tobytes()


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_changes_between_calls(run: Callable[[Wrap], Any]) -> None:
    tf.set_random_seed(7)
    eager = bits(run(lambda f: f))
    tf.set_random_seed(7)
    assert bits(run(tf.function)) == eager


def test_settings_that_come_back_find_their_traces() -> None:
    layer, x = layers.LeakyReLU(0.5), tf.constant(X)
    f = tf.function(lambda x: layer(x))
    for _ in range(5):
        for layer.alpha in (0.25, 0.5):
            for phase in (0, 1):
                K.set_learning_phase(phase)
                f(x)
    assert len(f.traces()) == 4


def test_a_trace_says_what_has_changed() -> None:
    layer, x = layers.LeakyReLU(0.5), tf.constant([1.0])
    f = tf.function(lambda x: layer(x))
    f(x)
    layer.alpha = 0.25
    f(x)
    assert [info.reason for info in f.traces()] == [
        "the first call: float32 (1,)",
        "'alpha' of a LeakyReLU has changed: float32 (1,)",
    ]


def test_layers_that_count_are_not_traced_for_ever() -> None:
    class Counting(layers.Layer):
        calls = 0

        def call(self, x: Any) -> Any:
            self.calls += 1
            return x * 2.0

    layer, x = Counting(), tf.constant(X)
    f = tf.function(lambda x: layer(x))
    for _ in range(5):
        f(x)
        layer(x)
    assert (len(f.traces()), layer.calls) == (1, 6)


def test_rates_are_read_at_each_run() -> None:
    optimizer, w = tf.keras.optimizers.SGD(0.5), tf.Variable(1.0)
    f = tf.function(lambda x: optimizer.apply_gradients([(x, w)]))
    for optimizer.lr in (0.5, 0.25, 0.125):
        f(tf.constant(1.0))
    assert (float(w), len(f.traces())) == (0.125, 2)  # the first call has made the slots


def test_what_nobody_has_read_makes_no_trace() -> None:
    layer, other, x = layers.LeakyReLU(0.5), layers.LeakyReLU(0.5), tf.constant(X)
    f = tf.function(lambda x: layer(x))
    for n in range(4):
        f(x)
        other.alpha = layer.unread = n
    assert len(f.traces()) == 1


def test_a_learning_phase_of_another_thread() -> None:
    dropout, x, found = layers.Dropout(0.5), tf.ones([64]), []
    f = tf.function(lambda x: dropout(x))

    def other() -> None:
        K.set_learning_phase(1)
        found.extend([f(x), f(x)])

    f(x)
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert all((each.numpy() == 0.0).any() for each in found)
    assert (f(x).numpy() == 1.0).all()


def test_traces_do_not_keep_what_they_have_read_alive() -> None:
    layer, x = layers.LeakyReLU(0.5), tf.constant(X)
    held = weakref.ref(layer)
    f = tf.function(lambda x, layer: layer[0](x) if layer else x)
    box = [layer]
    g = tf.function(lambda x: box[0](x) if box else x)
    del f
    for _ in range(2):
        g(x)
    box.clear()
    del layer
    gc.collect()
    assert held() is None


def test_attributes_are_read_as_ever_when_no_function_is_traced() -> None:
    layer = layers.LeakyReLU(0.5)
    f = tf.function(lambda x: layer(x))
    f(tf.constant(X))
    with pytest.raises(ZeroDivisionError):
        tf.function(lambda x: layer(x) / (1 // 0))(tf.constant(X))
    assert type(layer).__getattribute__ is object.__getattribute__


def test_counts_of_a_sampler_are_refused() -> None:
    classes = tf.constant([[0], [1]], dtype=tf.int64)
    f = tf.function(lambda: tf.nn.learned_unigram_candidate_sampler(classes, 1, 4, False, 1000))
    with pytest.raises(tf.errors.TracingError, match="is read while the function is traced"):
        f()
