"""Ops and public functions in traced functions: they give what eager calls give, and none refuses without a reason."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog_core
from agog_core import nest

SEED = 3
X = np.arange(24, dtype="f4").reshape(2, 3, 4)
W, B = np.random.default_rng(3).normal(size=(50, 4)).astype("f4"), np.zeros(50, "f4")


def shape_of(*sizes: int) -> list[Any]:
    return [np.int32(size) for size in sizes]


def sampled(loss: Callable[..., Any]) -> Callable[..., Any]:
    return lambda labels, x: loss(W, B, labels, x, 5, 50)


# What an op needs on the host is a tensor: by each name a function, and the arguments of several calls.
SIZES: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
    "reshape": (lambda x, n: tf.reshape(x, [n, -1]), [(X, np.int32(n)) for n in (2, 3, 2, 12)]),
    "reshape to a stack": (lambda x, n: tf.reshape(x, tf.stack([n, -1])), [(X, np.int32(n)) for n in (2, 3, 2)]),
    "reshape to parts": (lambda x: tf.reshape(x, [tf.shape(x)[0] * 3, tf.shape(x)[2]]), [(X,), (X + 1,)]),
    "zeros": (lambda n: tf.zeros([n, 3]) + 1.0, [(np.int32(n),) for n in (2, 4, 2)]),
    "slice": (lambda x, n: tf.slice(x, [0, n, 0], [-1, 1, 2]), [(X, np.int32(n)) for n in (0, 2, 0)]),
    "one_hot": (lambda i, n: tf.one_hot(i, n), [([0, 1], np.int32(n)) for n in (2, 3, 2)]),
    "broadcast_to": (lambda x, n: tf.broadcast_to(x, [n, 2, 3, 4]), [(X, np.int32(n)) for n in (1, 2)]),
    "axis": (lambda x, n: tf.reduce_sum(x, n) + tf.expand_dims(x, n)[0, 0, 0, 0], [(X, np.int32(n)) for n in (0, 2)]),
    "random sizes": (lambda n: tf.random_uniform([n, 3], seed=1), [(np.int32(n),) for n in (2, 3, 2)]),
    "repeat": (lambda x, n: tf.repeat(x, n, axis=0), [(X, np.int32(n)) for n in (1, 3)]),
}
# What it needs is another value in each call, and one trace does.
VALUES: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
    "dropout": (lambda x, r: tf.nn.dropout(x, rate=r, seed=1), [(X, np.float32(r)) for r in (0.3, 0.5, 0.9, 0.1)]),
    "dropout, kept": (lambda x, r: tf.nn.dropout(x, r, seed=1), [(X, np.float32(r)) for r in (0.3, 0.5, 0.9)]),
    "dropout, noise": (
        lambda x, r: tf.nn.dropout(x, r, noise_shape=[2, 1, 4]),
        [(X, np.float32(r)) for r in (0.3, 0.5)],
    ),
    "random_crop": (lambda x: tf.random_crop(x, [2, 2, 1]), [(X,)] * 4),
    "random range": (lambda r: tf.random_uniform([3], -r, r), [(np.float32(r),) for r in (1.0, 2.0)]),
    "sampled_softmax_loss": (
        sampled(tf.nn.sampled_softmax_loss),
        [([[n], [7]], np.ones((2, 4), "f4") * n) for n in (1, 2, 3)],
    ),
    "nce_loss": (sampled(tf.nn.nce_loss), [([[n], [7]], np.ones((2, 4), "f4")) for n in (1, 2, 3)]),
    "upper": (tf.strings.upper, [([b"ab", b"c"],), ([b"xyz", b""],)]),
    "decode_csv": (lambda r: tf.decode_csv(r, [[7], [""]]), [([b"1,a", b",b"],), ([b"5,", b"6,z"],)]),
    "is_jpeg": (tf.image.is_jpeg, [([b"a", b"\xff\xd8\xff\xe0"],), ([b"\xff\xd8\xff\xe0", b"b"],)]),
    "format": (lambda x: tf.strings.format("x is {}", x), [([1, 2],), ([3, 4],)]),
}


def bits(value: Any) -> list[Any]:
    hosts = [np.asarray(x) for x in nest.flatten(value)]
    return [(h.dtype.str, h.shape, h.tolist() if h.dtype.hasobject else h.tobytes()) for h in hosts]


def both(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> tuple[list[Any], list[Any], Any]:
    """What calls give eagerly and traced, with the numbers that are drawn behind them."""
    traced, found = tf.function(function), []
    for f in (function, traced):
        tf.set_random_seed(SEED)
        given = [bits(f(*map(tf.constant, arguments))) for arguments in calls]
        found.append([*given, bits(tf.random_uniform([2]))])
    return found[0], found[1], traced


@pytest.mark.parametrize("name", SIZES)
def test_sizes_may_be_tensors(name: str) -> None:
    eager, traced, _ = both(*SIZES[name])
    assert traced == eager


@pytest.mark.parametrize("name", VALUES)
def test_values_may_be_other_ones_in_each_call_of_one_trace(name: str) -> None:
    eager, traced, function = both(*VALUES[name])
    assert traced == eager
    assert len(function.traces()) == 1


def test_the_gradient_of_dropout_with_a_rate_that_changes() -> None:
    def gradient(x: Any, rate: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.nn.dropout(x, rate=rate, seed=2) * x)
        return tape.gradient(loss, x)

    eager, traced, _ = both(gradient, [(X, np.float32(rate)) for rate in (0.3, 0.5, 0.0, 0.9)])
    assert traced == eager


def test_draws_of_a_sampler_are_taken_back_where_a_branch_goes_another_way() -> None:
    def function(labels: Any, x: Any) -> Any:
        loss = tf.reduce_sum(tf.nn.sampled_softmax_loss(W, B, labels, x, 5, 50))
        return loss * 2.0 if loss > 5.0 else -loss

    rng = np.random.default_rng(0)
    calls = [([[n], [7]], (rng.normal(size=(2, 4)) * n).astype("f4")) for n in (1, 3, 1, 5, 2, 1)]
    eager, traced, _ = both(function, calls)
    assert traced == eager


def test_wrong_values_are_errors_as_in_eager_code() -> None:
    dropped = tf.function(lambda x, rate: tf.nn.dropout(x, rate=rate))
    dropped(tf.constant(X), tf.constant(0.5))
    with pytest.raises(ValueError, match="rate in"):
        dropped(tf.constant(X), tf.constant(1.5))
    with pytest.raises(ValueError, match="rate in"):
        tf.function(lambda x, rate: tf.nn.dropout(x, rate=rate))(tf.constant(X), tf.constant(1.5))


WORDS = [["a", "b"], ["zz", "a"]], [["c", "c"], ["b", "q"]], [["a", "b"], ["zz", "a"]]
NUMBERS = [[3, 5], [9, 3]], [[7, 7], [5, 0]]
TEXTS = ["a b", "c"], ["b", "q zz"], ["A, c c", "b"]
layers = tf.keras.layers
VOCABULARY = ["a", "b", "c"]
TABLE = tf.contrib.lookup.HashTable(
    tf.contrib.lookup.KeyValueTensorInitializer(VOCABULARY, np.arange(3, dtype=np.int64)), -1
)
LAYERS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "strings": (layers.StringLookup(vocabulary=VOCABULARY), WORDS),
    "strings, several unknown": (layers.StringLookup(vocabulary=VOCABULARY, num_oov_indices=3, mask_token=""), WORDS),
    "strings, many": (layers.StringLookup(vocabulary=VOCABULARY, output_mode="multi_hot"), WORDS),
    "strings, weights": (
        layers.StringLookup(vocabulary=VOCABULARY, output_mode="tf_idf", idf_weights=[1.0, 2.0, 3.0]),
        WORDS,
    ),
    "strings, back": (layers.StringLookup(vocabulary=VOCABULARY, invert=True), ([[0, 1]], [[3, 9]])),
    "integers": (layers.IntegerLookup(vocabulary=[3, 5, 7]), NUMBERS),
    "integers, counts": (layers.IntegerLookup(vocabulary=[3, 5, 7], output_mode="count"), NUMBERS),
    "texts": (layers.TextVectorization(vocabulary=VOCABULARY), TEXTS),
    "texts of one length": (layers.TextVectorization(vocabulary=VOCABULARY, output_sequence_length=3), TEXTS),
    "texts, many": (layers.TextVectorization(vocabulary=VOCABULARY, output_mode="multi_hot"), TEXTS),
    "categories": (layers.CategoryEncoding(10, "count"), NUMBERS),
    "hashes": (layers.Hashing(4), WORDS),
    "buckets": (layers.Discretization(bin_boundaries=[1.0, 4.0]), ([[0.5, 3.0]], [[9.0, 1.0]])),
    "table": (TABLE.lookup, WORDS),
    "schedule": (tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9), (1, 5, 30)),
    "schedule in parts": (tf.keras.optimizers.schedules.PiecewiseConstantDecay([2, 6], [1.0, 0.5, 0.1]), (1, 5, 30)),
    "schedule with a start": (
        tf.keras.optimizers.schedules.CosineDecay(0.1, 20, warmup_target=0.5, warmup_steps=4),
        (1, 3, 30),
    ),
}


PLACES = [[0, 0], [0, 1], [2, 0]]
SPARSE: dict[str, Callable[..., Any]] = {
    "safe lookups": lambda x: tf.contrib.layers.safe_embedding_lookup_sparse([W], x),
    "safe lookups with weights": lambda x: tf.contrib.layers.safe_embedding_lookup_sparse(
        [W], x, tf.SparseTensor(x.indices, tf.cast(x.values, "float32") * 0.5, x.dense_shape)
    ),
    "lookups": lambda x: tf.nn.embedding_lookup_sparse(W, tf.SparseTensor(PLACES, tf.abs(x.values), [3, 2]), None),
    "sizes of sets": tf.sets.set_size,
    "sets": lambda x: tf.sets.set_union(x, [[1], [2], [3]]).values,
    "edits": lambda x: tf.edit_distance(x, tf.SparseTensor(PLACES, [1, 2, 3], [3, 2])),
    "labels": lambda x: tf.nn.ctc_loss(
        tf.SparseTensor(PLACES, tf.abs(x.values), [3, 2]), tf.reshape(tf.range(60.0), [4, 3, 5]), [4, 4, 4]
    ),
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_tensors_whose_values_are_looked_at(name: str) -> None:
    calls = [([1, 2, -1],), ([3, 3, 0],), ([0, 1, 2],), ([1, 2, -1],)]
    eager, traced, _ = both(lambda values: SPARSE[name](tf.SparseTensor(PLACES, values, [3, 2])), calls)
    assert traced == eager


@pytest.mark.parametrize("name", LAYERS)
def test_layers_that_look_at_values(name: str) -> None:
    layer, given = LAYERS[name]
    eager, traced, _ = both(lambda x: layer(x), [(x,) for x in given])
    assert traced == eager


def test_a_vocabulary_that_is_set_later_is_used() -> None:
    layer = layers.StringLookup(vocabulary=["a", "b"])
    traced = tf.function(lambda x: layer(x))
    assert traced(tf.constant(["b", "c"])).numpy().tolist() == [2, 0]
    layer.set_vocabulary(["c", "b"])
    assert traced(tf.constant(["b", "c"])).numpy().tolist() == [2, 1]


def test_unknown_words_are_errors_as_in_eager_code() -> None:
    layer = layers.StringLookup(vocabulary=["a", "b"], num_oov_indices=0)
    traced = tf.function(lambda x: layer(x))
    assert traced(tf.constant(["b", "a"])).numpy().tolist() == [1, 0]
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="'c' is not in the vocabulary"):
            traced(tf.constant(["b", "c"]))


def test_models_that_look_words_up_are_compiled() -> None:
    words = np.array([["a"], ["b"], ["c"], ["x"]] * 4)
    numbers = np.array([[3], [5], [7], [9]] * 4)
    y = np.arange(16, dtype="f4").reshape(16, 1)

    def trained(jit_compile: bool) -> list[Any]:
        tf.set_random_seed(SEED)
        given = [layers.Input((1,), dtype="string"), layers.Input((1,), dtype="int64")]
        found = [
            layers.StringLookup(vocabulary=VOCABULARY)(given[0]),
            layers.IntegerLookup(vocabulary=[3, 5, 7])(given[1]),
        ]
        x = layers.Concatenate()([layers.Flatten()(layers.Embedding(5, 4)(each)) for each in found])
        model = tf.keras.Model(given, layers.Dense(1)(x))
        model.compile("adam", "mse", jit_compile=jit_compile)
        losses = model.fit([words, numbers], y, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"]
        return [losses, [w.tobytes() for w in model.get_weights()]]

    assert trained(True) == trained(False)


# The public functions that are refused in a traced function, with what their examples are called with, and why.
REFUSED = {
    "constant": "makes a constant of a value that Python has",
    "convert_to_numpy": "gives an array of NumPy's",
    "eval": "gives an array of NumPy's",
    "learned_unigram_candidate_sampler": "its weights are counts that Python has and changes",
    "print_tensor": "prints by Python; tf.print does so in traced functions",
    "variable": "makes a variable",
}


def public_functions() -> dict[str, Any]:
    """The functions that agog and its namespaces offer, by their names."""
    found: dict[int, tuple[str, Any]] = {}
    seen: set[int] = set()

    def look(module: Any, name: str) -> None:
        seen.add(id(module))
        for part in dir(module):
            try:
                value = getattr(module, part)
            except (ImportError, AttributeError):
                continue
            where = str(getattr(value, "__module__", ""))
            if isinstance(value, types.ModuleType):
                if value.__name__.startswith("agog") and id(value) not in seen and not part.startswith("_"):
                    look(value, f"{name}.{part}")
            elif inspect.isfunction(value) and where.startswith("agog") and not part.startswith("_"):
                found.setdefault(id(value), (f"{name}.{part}", value))

    look(tf, "tf")
    return dict(sorted(found.values()))


def calls_of(function: Any) -> list[Any]:
    """The arguments with which the example of a function's docstring calls it."""
    calls: list[Any] = []

    def note(*args: Any, **kwargs: Any) -> Any:
        with contextlib.suppress(TypeError):
            calls.append(inspect.signature(function).bind(*args, **kwargs))
        return function(*args, **kwargs)

    class Core:
        def __getattr__(self, name: str) -> Any:
            value = getattr(agog_core, name)
            return note if value is function else value

    names = {**vars(sys.modules[function.__module__]), "ag": Core(), function.__name__: note}
    for example in doctest.DocTestParser().get_examples(inspect.getdoc(function) or ""):
        exec(compile(example.source, "<example>", "single"), names)
    return calls[:3]


def as_function(function: Any, call: Any) -> tuple[Callable[..., Any], list[Any]] | None:
    """A function of the tensors of a call, and these; None where there are none."""
    tensors: list[Any] = []

    def slot(value: Any, is_like: bool) -> Callable[[Any], Any]:
        if isinstance(value, tf.Tensor) or (
            is_like and isinstance(value, (int, float, complex, bytes, str, list, tuple, np.ndarray)) and value != []
            if not isinstance(value, (bool, np.ndarray)) and not isinstance(value, tf.Tensor)
            else is_like and isinstance(value, np.ndarray)
        ):
            with contextlib.suppress(Exception):
                tensors.append(tf.convert_to_tensor(value))
                place = len(tensors) - 1
                return lambda given: given[place]
        if type(value) in (list, tuple) and value and all(isinstance(each, tf.Tensor) for each in value):
            slots = [slot(each, is_like) for each in value]
            return lambda given: type(value)(each(given) for each in slots)
        return lambda given: value

    parameters = inspect.signature(function).parameters
    slots = {
        name: slot(value, str(parameters[name].annotation).startswith(("TensorLike", "Sequence[TensorLike]")))
        for name, value in call.arguments.items()
    }

    def run(*given: Any) -> Any:
        bound = inspect.signature(function).bind_partial()
        bound.arguments.update({name: each(given) for name, each in slots.items()})
        result = function(*bound.args, **bound.kwargs)
        return [x for x in nest.flatten(result) if isinstance(x, tf.Tensor)]

    return (run, tensors) if tensors else None


@pytest.fixture
def quiet() -> Iterator[None]:
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


def test_public_functions_are_traced_but_for_a_few(quiet: None) -> None:
    refused, differing, count = set(), [], 0
    for name, function in public_functions().items():
        try:
            calls = calls_of(function)
        except (Exception, SystemExit):  # an example that needs what is not there
            continue
        for call in calls:
            if (made := as_function(function, call)) is None:
                continue
            run, tensors = made
            try:
                tf.set_random_seed(SEED)
                eager = [bits(run(*tensors)) for _ in range(2)]
            except Exception:  # what the example gives is not what a tensor may be
                continue
            traced = tf.function(run)
            try:
                tf.set_random_seed(SEED)
                if [bits(traced(*tensors)) for _ in range(2)] != eager:
                    differing.append(name)
                count += 1
            except tf.errors.TracingError:
                refused.add(function.__name__)
    assert refused == set(REFUSED)
    assert differing == []
    assert count > 600
