"""Mistakes that programs make, and the errors that tell them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Conv2D, Dense, Embedding, Flatten, Input
from agog_layers.losses.loss import Huber
from agog_layers.metrics.keras.means import BinaryAccuracy
from agog_optimizers import AdamOptimizer, GradientAccumulator, GradientDescentOptimizer
from agog_training import Model, Sequential, optimizers
from agog_training.callbacks import EarlyStopping, History, TerminateOnNaN
from agog_training.optimizers import SGD, Adam, get

X = np.ones((8, 3), np.float32)
Y = np.ones((8, 1), np.float32)
BATCH = "Did you forget .batch(), as in dataset.batch(32)?"


class Elements:
    """What gives elements time and again and knows their shapes, as a Dataset does."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        self.output_shapes = tuple(ag.TensorShape(part.shape[1:]) for part in parts)

    def __iter__(self) -> Iterator[Any]:
        return zip(*self.parts, strict=True) if len(self.parts) > 1 else iter(self.parts[0])


def compiled(*layers: Any, name: str = "m") -> Any:
    model = Sequential(list(layers), name=name)
    model.compile("sgd", "mse")
    return model


def linear(**kwargs: Any) -> Any:
    return compiled(Dense(1, input_shape=(3,), **kwargs))


def raises(kind: type[Exception], text: str, use: Callable[[], Any]) -> None:
    with pytest.raises(kind, match=f"^{re.escape(text)}$"):
        use()


# --- data ---------------------------------------------------------------------------------------------------------


def test_a_dataset_without_batches_is_told_by_the_shapes_of_the_model() -> None:
    told = f"the data gives x of shape (3,) and y of shape (1,), but the model takes (?, 3). {BATCH}"
    for make in (Elements, lambda *parts: iter(Elements(*parts))):
        raises(ValueError, f"fit: {told}", lambda make=make: linear().fit(make(X, Y), verbose=0))
        raises(ValueError, f"evaluate: {told}", lambda make=make: linear().evaluate(make(X, Y), verbose=0))
        raises(
            ValueError,
            f"predict: the data gives x of shape (3,), but the model takes (?, 3). {BATCH}",
            lambda: linear().predict(iter(X)),
        )
        raises(ValueError, f"fit: {told}", lambda: linear().fit(X, Y, validation_data=Elements(X, Y), verbose=0))
    a, b = Input((3,)), Input((3,))
    two = Model([a, b], Dense(1)(a + b))
    two.compile("sgd", "mse")
    raises(
        ValueError,
        "fit: the data gives x of shape (3,), (3,) and y of shape (1,), but the model takes (?, 3), (?, 3). " + BATCH,
        lambda: two.fit((((x, x), y) for x, y in Elements(X, Y)), verbose=0),
    )


@pytest.mark.parametrize(
    ("layers", "x"),
    [
        ([Dense(1)], X),
        ([Embedding(4, 2), Flatten(), Dense(1)], np.zeros((8, 5), np.int64)),
        ([Conv2D(2, 3), Flatten(), Dense(1)], np.zeros((8, 6, 6, 3), np.float32)),
        ([Flatten(), Dense(1)], np.zeros((8, 6, 6, 3), np.float32)),
        ([Dense(1)], np.zeros(8, np.float32)),
    ],
)
def test_a_dataset_without_batches_is_told_by_its_own_shapes(layers: Any, x: Any) -> None:
    raises(
        ValueError,
        f"fit: the data gives x of shape {x.shape[1:]} and y of shape (1,), but a batch has its examples along the "
        f"first axis of each part. {BATCH}",
        lambda: compiled(*layers).fit(Elements(x, Y), verbose=0),
    )


def test_batches_are_taken_as_they_were() -> None:
    pieces = X.reshape(4, 2, 3), Y.reshape(4, 2, 1)
    for model in (linear(), compiled(Dense(1))):
        for source in (Elements(*pieces), iter(Elements(*pieces))):
            assert model.fit(source, verbose=0).epoch == [0]


def test_a_part_of_another_size_is_no_mistake_where_sizes_are_not_fixed() -> None:
    class Scaled(Model):
        def __init__(self) -> None:
            super().__init__()
            self.d = Dense(1)

        def call(self, inputs: Any) -> Any:
            x, scale = inputs
            return self.d(x) * scale

    class Batched(Elements):
        def __iter__(self) -> Iterator[Any]:
            return iter([((ag.constant(X), ag.constant(2.0)), Y)])

    source = Batched(X, Y)
    source.output_shapes = (ag.TensorShape([None, 3]), ag.TensorShape([]), ag.TensorShape([None, 1]))
    model = Scaled()
    model.compile("sgd", "mse")
    assert model.fit(source, verbose=0).epoch == [0]


def test_data_without_elements_says_so() -> None:
    empty = Elements(X[:0], Y[:0])
    for use, name in [
        (lambda: linear().fit(empty, verbose=0), "fit"),
        (lambda: linear().fit(empty, steps_per_epoch=3, verbose=0), "fit"),
        (lambda: linear().fit(X, Y, validation_data=empty, verbose=0), "fit"),
        (lambda: linear().evaluate(empty, verbose=0), "evaluate"),
        (lambda: linear().predict(Elements(X[:0])), "predict"),
    ]:
        raises(ValueError, f"{name}: the Elements has no elements, so there is no batch.", use)


def test_an_array_that_holds_none_says_where() -> None:
    raises(
        ValueError,
        "Cannot convert an array of shape (1, 3) and dtype object to a Tensor: at [0, 2] it holds None. A number that "
        "is missing is np.nan in an array of floats.",
        lambda: linear().fit(np.array([[1, 2, None]]), Y[:1], verbose=0),
    )


# --- callbacks ----------------------------------------------------------------------------------------------------


def test_callbacks_are_a_list_of_objects() -> None:
    no_list, no_callback = (
        "fit: callbacks must be a list; got ",
        "fit: a callback is an object of a class derived from ",
    )
    for given, text in [
        (EarlyStopping(), f"{no_list}one of type EarlyStopping. Write callbacks=[callback]."),
        (TerminateOnNaN, f"{no_list}the class TerminateOnNaN: make one of it, TerminateOnNaN(...)."),
        ("stop", f"{no_list}'stop' of type str."),
        (3, f"{no_list}3 of type int."),
        (
            [History(), TerminateOnNaN],
            f"{no_callback}Callback; got the class TerminateOnNaN: make one of it, TerminateOnNaN(...).",
        ),
        ([max], f"{no_callback}Callback; got <built-in function max> of type builtin_function_or_method."),
    ]:
        model = linear()
        before = model.get_weights()
        raises(TypeError, text, lambda model=model, given=given: model.fit(X, Y, callbacks=given, verbose=0))
        np.testing.assert_array_equal(model.get_weights()[0], before[0])
    for some in (None, [], (History(),), [History()]):
        assert linear().fit(X, Y, callbacks=some, verbose=0).epoch == [0]


# --- compile ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kwargs", [{}, {"input_shape": (3,)}], ids=["unbuilt", "built"])
def test_compile_finds_each_loss_and_metric(kwargs: Any) -> None:
    def compile_with(*arguments: Any, **others: Any) -> None:
        Sequential([Dense(1, name="d", **kwargs)]).compile(*arguments, **others)

    for use in (
        lambda: compile_with("sgd", "msee"),
        lambda: compile_with("sgd", ["msee"]),
        lambda: compile_with("sgd", {"d": "msee"}),
    ):
        with pytest.raises(ValueError, match=r"^Unknown loss 'msee'; the names are KLD, "):
            use()
    for use in (
        lambda: compile_with("sgd", "mse", ["acuracy"]),
        lambda: compile_with("sgd", "mse", {"d": ["mse", "acuracy"]}),
        lambda: compile_with("sgd", "mse", [["acuracy"]]),
        lambda: compile_with("sgd", "mse", weighted_metrics="acuracy"),
    ):
        with pytest.raises(ValueError, match=r"^Unknown metric 'acuracy'; the names are KLD, "):
            use()
    kinds = "is a name, a function, or what serialize returned; got "
    raises(TypeError, f"A loss {kinds}3 of type int.", lambda: compile_with("sgd", 3))
    raises(TypeError, f"A metric {kinds}3 of type int.", lambda: compile_with("sgd", "mse", [3]))
    raises(TypeError, f"A loss {kinds}the class Huber: make one of it, Huber(...).", lambda: compile_with("sgd", Huber))
    raises(
        TypeError,
        f"A metric {kinds}the class BinaryAccuracy: make one of it, BinaryAccuracy(...).",
        lambda: compile_with("sgd", "mse", [BinaryAccuracy]),
    )


@pytest.mark.parametrize("cls", [Adam, AdamOptimizer])
def test_an_optimizer_that_is_not_made_yet_is_named(cls: Any) -> None:
    name = cls.__name__
    text = (
        f"An optimizer is a name, or an object with apply_gradients; got the class {name}: make one of it, {name}(...)."
    )
    raises(TypeError, text, lambda: get(cls))
    raises(TypeError, text, lambda: Sequential([Dense(1)]).compile(cls, "mse"))


# --- variables ----------------------------------------------------------------------------------------------------


def test_a_model_without_variables_to_train_says_why() -> None:
    frozen = linear()
    frozen.trainable = False
    frozen.compile("sgd", "mse")
    text = "Model 'm': none of its 2 variables is to be trained, since trainable is False in the model. "
    for use in (lambda: frozen.fit(X, Y, verbose=0), lambda: frozen.train_on_batch(X, Y)):
        raises(ValueError, f"{text}Set it to True, or call evaluate.", use)
    raises(
        ValueError,
        "Model 'm': none of its 2 variables is to be trained, since trainable is False in its layers. Set it to True, "
        "or call evaluate.",
        lambda: linear(trainable=False).fit(X, Y, verbose=0),
    )
    with pytest.warns(UserWarning, match="Model 'm' has no variables, so there is nothing to train\\.$"):
        compiled(Flatten()).fit(X, X, verbose=0)
    assert frozen.evaluate(X, Y, verbose=0) >= 0
    frozen.trainable = True
    assert frozen.fit(X, Y, verbose=0).epoch == [0]


def test_what_is_trained_is_decided_by_compile() -> None:
    discriminator = linear()
    discriminator.compile("sgd", "mse")
    discriminator.trainable = False
    before = discriminator.get_weights()
    with pytest.warns(UserWarning, match="trainable was changed") as caught:
        discriminator.train_on_batch(X, Y)
    assert str(caught[0].message) == (
        "Model 'm': trainable was changed since the model was compiled, which changes nothing before compile is called "
        "again."
    )
    assert not np.array_equal(before[0], discriminator.get_weights()[0])


def test_the_second_argument_of_minimize_may_be_the_variables() -> None:
    for variables in (lambda v: [v], lambda v: (v,)):
        v, w = ag.Variable(3.0), ag.Variable(3.0)
        SGD(0.1).minimize(lambda v=v, w=w: v * v + w * w, variables(v))
        assert (float(v), float(w)) == (pytest.approx(2.4), 3.0)
    step = ag.Variable(0)
    SGD(0.1).minimize(lambda: v * v, step)
    assert int(step) == 1
    raises(
        TypeError,
        "SGD.minimize: var_list is given twice: in the second place, too.",
        lambda: SGD(0.1).minimize(lambda: v * v, [v], [v]),
    )


def test_a_wrong_step_changes_no_variable() -> None:
    v = ag.Variable(3.0)
    raises(
        TypeError,
        "GradientDescent: minimize takes a variable as global_step; got a list. The variables to change are var_list: "
        "minimize(loss, var_list=[...]).",
        lambda: GradientDescentOptimizer(0.1).minimize(lambda: v * v, [v]),  # type: ignore[arg-type]
    )
    assert float(v) == 3.0
    for optimizer, name in (
        (GradientDescentOptimizer(0.1), "GradientDescent"),
        (SGD(0.1), "SGD"),
        (GradientAccumulator(GradientDescentOptimizer(0.1), 1), "GradientAccumulator"),
    ):
        raises(
            TypeError,
            f"{name}: apply_gradients takes a variable as global_step; got a list. The variables to change are in the "
            "pairs.",
            lambda optimizer=optimizer: optimizer.apply_gradients([(1.0, v)], [v]),
        )
    assert float(v) == 3.0


@pytest.mark.parametrize("name", ["Adadelta", "Adagrad", "Adam", "Adamax", "Nadam", "RMSprop", "SGD"])
def test_hyperparameters_of_optimizers_are_numbers(name: str) -> None:
    kind = getattr(optimizers, name)
    for argument in ("lr", "decay", "clipnorm", "clipvalue"):
        raises(
            TypeError,
            f"{name}: {argument} must be a number, a tensor, a variable, or a function that returns one; got 'x' of "
            "type str.",
            lambda argument=argument: kind(**{argument: "x"}),
        )
    rate = ag.Variable(0.5)
    assert kind(lr=rate).lr is rate
