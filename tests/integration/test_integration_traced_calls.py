"""Users' programs give the same bits in `tf.function` as without: what is called, with what, and what comes back."""

from __future__ import annotations

import collections
import copy
import enum
import functools
import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import agog as tf

X = np.random.default_rng(0).normal(size=(4, 3)).astype("f4")
W = np.random.default_rng(1).normal(size=(3, 2)).astype("f4")

# Makes a traced function of one, or leaves it as it is.
Wrap = Callable[[Any], Any]
PROGRAMS: list[Callable[[Wrap], Any]] = []


def program(run: Callable[[Wrap], Any]) -> Callable[[Wrap], Any]:
    PROGRAMS.append(run)
    return run


def given(scale: float = 1.0) -> Any:
    return tf.constant(X * np.float32(scale))


# Arguments, closures and results


@program
def closure_over_a_list(wrap: Wrap) -> Any:
    weights = [tf.Variable(W), tf.Variable(W * 2)]
    f = wrap(lambda x: tf.add_n([tf.matmul(x, w) for w in weights]))
    found = [f(given()) for _ in range(3)]
    weights[0].assign(W * 3)
    return [*found, f(given())]


@program
def dicts_in_any_order(wrap: Wrap) -> Any:
    f = wrap(lambda d: {"difference": d["b"] - d["a"], "parts": [d["a"] * 2, {"b": d["b"]}]})
    return [f({"a": given(), "b": given(3)}), f({"b": given(5), "a": given()}), f({"a": given(2), "b": given()})]


@program
def ordered_dicts(wrap: Wrap) -> Any:
    f = wrap(lambda d: collections.OrderedDict((key, value * 2) for key, value in d.items()))
    found = [f(collections.OrderedDict([("z", given(k)), ("a", given(k + 1))])) for k in (1, 2)]
    assert [list(each) for each in found] == [["z", "a"]] * 2
    return [list(each.values()) for each in found]


class Pair(NamedTuple):
    one: Any
    two: Any


@program
def named_tuples(wrap: Wrap) -> Any:
    f = wrap(lambda pair: Pair(pair.two, pair.one * 2))
    found = [f(Pair(given(), given(k))) for k in (1, 2)]
    assert [type(each) for each in found] == [Pair, Pair]
    return found


@dataclass(frozen=True)
class Settings:
    scale: float = 2.0


@program
def dataclasses(wrap: Wrap) -> Any:
    held = Settings(3.0)
    f = wrap(lambda x, settings: x * settings.scale + held.scale)
    return [f(given(), Settings(scale)) for scale in (1.0, 2.0, 1.0)]


class Mode(enum.Enum):
    TRAIN = 1
    TEST = 2


@program
def modes(wrap: Wrap) -> Any:
    def call(x: Any, mode: Any, mask: Any = None, training: bool = False) -> Any:
        x = x * 2.0 if mode in (Mode.TRAIN, "train") else x + 1.0
        return (x if mask is None else x * mask) * (3.0 if training else 1.0)

    f = wrap(call)
    plain = [f(given(), mode) for mode in (Mode.TRAIN, Mode.TEST, "train", "test", Mode.TRAIN)]
    return [*plain, f(given(), "train", None, True), f(given(), "train", given()), f(given(), "test", training=True)]


@program
def keywords_defaults_and_more(wrap: Wrap) -> Any:
    def call(x: Any, *others: Any, scale: float = 2.0, **named: Any) -> Any:
        for other in others:
            x = x + other
        for name in sorted(named):
            x = x * named[name]
        return x * scale

    f, two = wrap(call), tf.constant(2.0)
    return [
        *(f(given()), f(given(), given()), f(given(), given(), scale=3.0), f(x=given())),
        *(f(given(), a=two, b=given()), f(given(), b=given(), a=two)),
    ]


@program
def lists_that_change(wrap: Wrap) -> Any:
    f, both = wrap(lambda xs: xs[0] + xs[1]), [given(), given()]
    first = f(both)
    both[0] = given(5)
    return [first, f(both), f([given(2), given(3)])]


@program
def arrays_that_change(wrap: Wrap) -> Any:
    f, array = wrap(lambda x: x * 2.0), np.ones(3, "f4")
    first = f(array)
    array[:] = 5
    return [first, f(array), f(np.float32(3)), f(np.ones(3, "f8"))]


@program
def strides(wrap: Wrap) -> Any:
    f = wrap(lambda x: tf.reduce_sum(x * 2.0, 0))
    return [f(each) for each in (X.T, X[:, ::-1], tf.transpose(given()), X.T, X)]


@program
def results_of_many_kinds(wrap: Wrap) -> Any:
    f = wrap(lambda x: (1, 2.5, True, "s", None, x, (x, [x * 2.0, ()])))
    return [f(given()), f(given(2))]


@program
def sparse_tensors(wrap: Wrap) -> Any:
    f = wrap(lambda s: tf.sparse_tensor_to_dense(s) * 2.0)
    return [f(tf.SparseTensor([[0, 1], [2, 0]], [k, 2.0], [3, 2])) for k in (1.0, 3.0)]


@program
def shapes_and_dtypes(wrap: Wrap) -> Any:
    f = wrap(lambda x: (x * 2, tf.size(x), x.shape.num_elements()))
    kinds = [tf.constant([1, 2], kind) for kind in (tf.int32, tf.float32, tf.float64, tf.int32)]
    return [f(x) for x in [*kinds, given(), given()[:1], tf.zeros([0, 3]), tf.zeros([0, 3])]]


@program
def signature_with_open_sizes(wrap: Wrap) -> Any:
    def call(x: Any) -> Any:
        return tf.reduce_mean(x, 0) * tf.cast(tf.shape(x)[0], tf.float32) / float(x.shape[0])

    f = call if wrap is not tf.function else tf.function(call, input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    return [f(given()[:rows]) for rows in (1, 2, 3, 2, 4)]


@program
def functions_inside_of_other_signatures(wrap: Wrap) -> Any:
    inner = lambda x: x * 2.0  # noqa: E731
    if wrap is tf.function:
        inner = tf.function(inner, input_signature=[tf.TensorSpec([None], tf.float32)])
    f = wrap(lambda x: inner(tf.reshape(x, [-1])) + 1.0)
    return [f(given()), f(given()[:2]), f(given(2))]


# Objects


def counter(wrap: Wrap) -> Any:
    class Counter:
        factor = 5.0

        def __init__(self) -> None:
            self.total = tf.Variable(0.0)

        @wrap
        def add(self, x: Any) -> Any:
            self.total.assign_add(x * 3.0)
            return self.total.value()

        @property
        @wrap
        def doubled(self) -> Any:
            return self.total * 2.0

        @staticmethod
        @wrap
        def twice(x: Any) -> Any:
            return x * 2.0

        @classmethod
        @wrap
        def scaled(cls, x: Any) -> Any:
            return x * cls.factor

    return Counter


@program
def methods(wrap: Wrap) -> Any:
    kind, one, two = counter(wrap), tf.constant(1.0), tf.constant(2.0)
    a, b = kind(), kind()
    return [a.add(one), b.add(two), a.add(one), a.doubled, b.doubled, a.twice(one), kind.twice(two), kind.scaled(two)]


@program
def inheritance(wrap: Wrap) -> Any:
    base = counter(wrap)

    class More(base):  # type: ignore[misc, valid-type]
        factor = 7.0

        @wrap
        def add(self, x: Any) -> Any:
            return super().add(x) * 10.0

    more, one = More(), tf.constant(1.0)
    return [more.add(one), more.add(one), more.scaled(one), More.scaled(one), base.scaled(one), more.doubled]


@program
def objects_that_come_and_go(wrap: Wrap) -> Any:
    kind, found = counter(wrap), []
    for number in range(3):
        each = kind()
        each.total.assign(float(number))
        found += [each.add(tf.constant(1.0)), each.add(tf.constant(2.0))]
        del each
        gc.collect()
    return found


@program
def callables_partials_and_copies(wrap: Wrap) -> Any:
    v = tf.Variable(2.0)

    class Scale:
        def __call__(self, x: Any) -> Any:
            return x * v

    f, g = wrap(Scale()), wrap(functools.partial(lambda a, x, b: a * x + b, 2.0, b=tf.constant(1.0)))
    h = copy.copy(f)
    found = [each(given()) for each in (f, g, h, f, g, h)]
    v.assign(5.0)
    return [*found, f(given()), h(given())]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_programs_are_equal(run: Callable[[Wrap], Any], assert_same_bits: Callable[..., None]) -> None:
    assert_same_bits(run)
