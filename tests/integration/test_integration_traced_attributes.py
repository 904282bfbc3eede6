"""Each settable attribute of layers, optimizers and losses is in the keys of traces, late, a variable, or unread.

``traced_attributes.txt`` says which it is; ``python test_integration_traced_attributes.py`` writes it.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import agog as tf

layers, keras = tf.keras.layers, tf.keras
PAGE = Path(__file__).with_name("traced_attributes.txt")
KINDS = ("key", "late", "variable", "unread")
RANDOM = np.random.default_rng(0)
FLOATS = [RANDOM.normal(size=shape).astype("f4") for shape in [(4, 6), (2, 8, 6), (2, 8, 8, 3), (2, 4, 6, 6, 3)]]
PAIR = [FLOATS[0], FLOATS[0] * 2]
# What is neither a layer that is called nor one of its own.
NOT_CALLED = {
    "InputLayer",
    "Layer",
    "Wrapper",
    "DenseFeatures",
    "StackedRNNCells",
    "GRUCell",
    "LSTMCell",
    "SimpleRNNCell",
    "TFSMLayer",  # what it calls lies in a folder
}
# What reads the texts that it is called with, so that it cannot be traced.
NOT_TRACED = {"TextVectorization"}
# The arguments of classes that need some, and the inputs of those that take no floats.
ARGUMENTS: dict[str, Callable[[], Any]] = {
    "Activation": lambda: layers.Activation("tanh"),
    "Bidirectional": lambda: layers.Bidirectional(layers.LSTM(2)),
    "CategoryEncoding": lambda: layers.CategoryEncoding(num_tokens=9),
    "CenterCrop": lambda: layers.CenterCrop(4, 4),
    "Discretization": lambda: layers.Discretization(bin_boundaries=[0.0, 1.0]),
    "Dot": lambda: layers.Dot(axes=1),
    "EinsumDense": lambda: layers.EinsumDense("ab,bc->ac", output_shape=3),
    "Embedding": lambda: layers.Embedding(9, 3),
    "GroupNormalization": lambda: layers.GroupNormalization(3),
    "HashedCrossing": lambda: layers.HashedCrossing(5),
    "Hashing": lambda: layers.Hashing(5),
    "IntegerLookup": lambda: layers.IntegerLookup(vocabulary=[1, 2, 3]),
    "Lambda": lambda: layers.Lambda(tf.square),
    "MultiHeadAttention": lambda: layers.MultiHeadAttention(2, 3),
    "Normalization": lambda: layers.Normalization(mean=0.5, variance=2.0),
    "Permute": lambda: layers.Permute((2, 1)),
    "RNN": lambda: layers.RNN(layers.GRUCell(2)),
    "RandomBrightness": lambda: layers.RandomBrightness(0.25),
    "RandomContrast": lambda: layers.RandomContrast(0.25),
    "RandomCrop": lambda: layers.RandomCrop(4, 4),
    "RandomRotation": lambda: layers.RandomRotation(0.25),
    "RandomTranslation": lambda: layers.RandomTranslation(0.25, 0.25),
    "RandomZoom": lambda: layers.RandomZoom(0.25),
    "RepeatVector": lambda: layers.RepeatVector(3),
    "Rescaling": lambda: layers.Rescaling(0.5),
    "Reshape": lambda: layers.Reshape([3, 2]),
    "Resizing": lambda: layers.Resizing(4, 4),
    "SpectralNormalization": lambda: layers.SpectralNormalization(layers.Dense(2)),
    "StringLookup": lambda: layers.StringLookup(vocabulary=["a", "b"]),
    "TimeDistributed": lambda: layers.TimeDistributed(layers.Dense(2)),
}
INPUTS: dict[str, Any] = {
    **dict.fromkeys(("CategoryEncoding", "Embedding", "Hashing", "IntegerLookup"), np.array([[1, 2, 3], [4, 5, 0]])),
    "StringLookup": np.array(["a", "b", "c"]),
    "HashedCrossing": [np.array([1, 2]), np.array([3, 4])],
    **{name: [FLOATS[1], FLOATS[1]] for name in ("AdditiveAttention", "Attention")},
    "MultiHeadAttention": FLOATS[1],
}
LABELS = {
    **dict.fromkeys(("SparseCategoricalCrossentropy", "CategoricalGeneralizedCrossEntropy"), (np.arange(4), FLOATS[0])),
    "CTC": (np.array([[1, 2, 3], [2, 4, 1]]), FLOATS[1]),
}
# What an attribute is set to, by what it is.
TEXTS = {
    "valid": "same",
    "same": "valid",
    "channels_last": "channels_first",
    "sum": "none",
    "sum_over_batch_size": "sum",
}


class Subject(NamedTuple):
    """An object, a function that reads it, and the function's arguments."""

    owner: Any
    function: Callable[..., Any]
    args: tuple[Any, ...]


def subject_of_layer(make: Callable[[], Any], inputs: Any) -> Subject:
    layer = make()
    if isinstance(inputs, list):
        return Subject(layer, lambda pair: layer(list(pair)), (tuple(map(tf.constant, inputs)),))
    if isinstance(layer, layers.MultiHeadAttention):
        return Subject(layer, lambda x: layer(x, x), (tf.constant(inputs),))
    return Subject(layer, lambda x: layer(x), (tf.constant(inputs),))


def subject_of_optimizer(make: Callable[[], Any]) -> Subject:
    optimizer, variables = make(), [tf.Variable(FLOATS[0]), tf.Variable(FLOATS[1])]
    global_step = {"global_step": tf.Variable(0, dtype=tf.int64)} if "DA" in type(optimizer).__name__ else {}

    def step(x: Any) -> Any:
        optimizer.apply_gradients([(x * variable, variable) for variable in variables], **global_step)
        return [variable.value() for variable in variables]

    return Subject(optimizer, step, (tf.constant(0.5),))


def subject_of_loss(make: Callable[[], Any]) -> Subject:
    loss = make()
    labels, outputs = LABELS.get(type(loss).__name__, (np.eye(6, dtype="f4")[:4], FLOATS[0]))
    return Subject(loss, lambda y, x: loss(y, x), (tf.constant(labels), tf.nn.softmax(tf.constant(outputs))))


def classes(namespace: Any, base: type) -> Iterator[tuple[str, type]]:
    seen = set()
    for name, cls in sorted(inspect.getmembers(namespace, inspect.isclass)):
        if issubclass(cls, base) and cls is not base and cls not in seen:
            seen.add(cls)
            yield name, cls


def subjects() -> Iterator[tuple[str, Callable[[], Subject]]]:
    """All that there is, each with what makes one."""
    for name, cls in classes(layers, layers.Layer):
        if name not in NOT_CALLED | NOT_TRACED:
            yield f"layers.{name}", partial(_layer, name, cls)
    for module, space, base in [
        ("optimizers", keras.optimizers, keras.optimizers.Optimizer),
        ("train", tf.train, tf.train.Optimizer),
    ]:
        for name, cls in classes(space, base):
            if "LossScale" not in name and "Sync" not in name:
                yield f"{module}.{name}", partial(subject_of_optimizer, partial(_optimizer, cls))
    for name, cls in classes(keras.losses, keras.losses.Loss):
        yield f"losses.{name}", partial(subject_of_loss, cls)


def _optimizer(cls: Any) -> Any:
    needed = [
        parameter.name
        for parameter in inspect.signature(cls).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    return cls(**{name: tf.Variable(0, dtype=tf.int64) if name == "global_step" else 0.25 for name in needed})


def _layer(name: str, cls: Any) -> Subject:
    make = ARGUMENTS.get(name, partial(_default, cls))
    given = [INPUTS[name]] if name in INPUTS else [*FLOATS, PAIR]  # of which the first is taken that fits
    for inputs in given[:-1]:
        found = subject_of_layer(make, inputs)
        try:
            found.function(*found.args)
        except Exception:  # of another rank
            continue
        return subject_of_layer(make, inputs)
    return subject_of_layer(make, given[-1])


def _default(cls: Any) -> Any:
    sizes = {"units": 2, "filters": 2, "kernel_size": 2, "size": 2, "rate": 0.25, "stddev": 0.25}
    needed = [p for p in inspect.signature(cls).parameters.values() if p.default is p.empty and p.name in sizes]
    return cls(**{parameter.name: sizes[parameter.name] for parameter in needed})


def attributes(owner: Any) -> list[str]:
    """What a program can set: public attributes, and properties with a setter."""
    found = [name for name in vars(owner) if not name.startswith("_")]
    for cls in type(owner).__mro__:
        for name, value in vars(cls).items():
            if isinstance(value, property) and value.fset is not None and not name.startswith("_"):
                found.append(name)
    return sorted(set(found))


def another(value: Any) -> Any:
    """Another value for an attribute."""
    if isinstance(value, (bool, np.bool_)):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 0.5 + 0.125
    if isinstance(value, str):
        return TEXTS.get(value, "another")
    if isinstance(value, tf.Variable):
        return tf.Variable(value.numpy() * np.asarray(0.5, value.dtype.as_numpy_dtype))
    if isinstance(value, (tuple, list)):
        return type(value)(map(another, value))
    if value is None:
        return 0.25
    return tf.tanh if callable(value) else None


def bits(found: Any) -> Any:
    if isinstance(found, (list, tuple)):
        return [bits(each) for each in found]
    if isinstance(found, tf.SparseTensor):
        return bits([found.indices, found.values])
    array = np.asarray(found.numpy())
    return array.dtype.name, array.shape, array.tolist() if array.dtype == object else array.tobytes()


def outcome(run: Callable[[], Any], seed: int) -> Any:
    """The bits that a call gives, or its error."""
    tf.set_random_seed(seed)
    try:
        return bits(run())
    except Exception as error:
        return type(error).__name__, str(error)


def outcomes(make: Callable[[], Subject], wrap: Any) -> tuple[list[Any], dict[str, str]]:
    """What calls give with each attribute set to another value in turn, and then as it was; and what each is."""
    tf.set_random_seed(0)
    keras.backend.clear_session()
    keras.backend.set_learning_phase(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _outcomes(make(), wrap)
    finally:
        keras.backend.set_learning_phase(0)


def _outcomes(subject: Subject, wrap: Any) -> tuple[list[Any], dict[str, str]]:
    owner, verdicts, found = subject.owner, {}, [("", outcome(lambda: subject.function(*subject.args), 0))]
    for n, name in enumerate(attributes(owner)):
        before, f = vars(owner).get(name, getattr(owner, name, None)), wrap(subject.function)
        found += [(name, outcome(lambda: f(*subject.args), n)) for _ in range(2)]  # noqa: B023  # at once
        reads, verdicts[name] = holding(f), _verdict(owner, name, before)
        for value in (another(before), before):
            try:
                setattr(owner, name, value)
            except Exception as error:
                found.append((name, type(error).__name__))
                continue
            if not all(each.hold() for each in reads):
                verdicts[name] = "key"
            found.append((name, outcome(lambda: f(*subject.args), n)))  # noqa: B023  # at once
    return found, verdicts


def _verdict(owner: Any, name: str, value: Any) -> str:
    """What an attribute is that is in no key."""
    if isinstance(value, tf.Variable):
        return "variable"
    if not isinstance(owner, tf.train.Optimizer):
        return "unread"
    hyperparameters = {each.lstrip("_") for each, _ in owner._kept} | {"decay", "learning_rate", "lr", "schedule_decay"}
    return "late" if name in hyperparameters else "unread"


def holding(function: Any) -> list[Any]:
    """What the traces of a function have read, of those that hold."""
    memory = getattr(function, "_memory", None)
    known = [] if memory is None else [each for several in memory._reads.values() for each in several]
    return [each for each in known if each.hold()]


SUBJECTS = dict(subjects())


@cache
def both(name: str) -> tuple[list[Any], list[Any], dict[str, str]]:
    eager, _ = outcomes(SUBJECTS[name], lambda f: f)
    return eager, *outcomes(SUBJECTS[name], tf.function)


def line(name: str) -> str:
    """What the page says of a class."""
    verdicts = both(name)[2]
    parts = [(kind, [each for each, its in verdicts.items() if its == kind]) for kind in KINDS]
    return f"{name}: " + "; ".join(f"{kind} {' '.join(names)}" for kind, names in parts if names)


@pytest.mark.parametrize("name", SUBJECTS)
def test_setting_an_attribute_is_setting_it_in_eager_code(name: str) -> None:
    eager, traced, _ = both(name)
    assert [each for each in zip(eager, traced, strict=True) if each[0] != each[1]] == []
    assert not isinstance(eager[0][1][0], str) or not eager[0][1][0].endswith("Error"), eager[0]


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_page_says_what_each_attribute_is(name: str) -> None:
    page = [each for each in PAGE.read_text(encoding="utf-8").splitlines() if each.startswith(f"{name}:")]
    assert page == [line(name)], f"`python {Path(__file__).name}` writes {PAGE.name}"


def test_the_page_has_nothing_else() -> None:
    names = [each.partition(":")[0] for each in PAGE.read_text(encoding="utf-8").splitlines()]
    assert names == list(SUBJECTS)


if __name__ == "__main__":
    PAGE.write_text("".join(f"{line(name)}\n" for name in SUBJECTS), encoding="utf-8")
