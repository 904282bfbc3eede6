"""Reserves: gradients with what a kernel keeps for them, compared with those of kernels that keep nothing."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

import agog_core as ag
from agog_core import nest
from agog_core.dispatch.devices.variant import Variant
from agog_testing.checks.derivatives import Smooth
from agog_testing.checks.derivatives import _smooth as smooth_samples
from agog_testing.comparison import same, shown
from agog_testing.subject import Array, Subject, Untaken, Violation

RULE = "a kernel's `reserve` returns what the kernel does, and last an array for its gradient's kernel"
GRADIENT = "gradients with a reserve are those without"
SHARED = "each call has a reserve of its own"
CHANGED = "what takes a reserve does not change it"
HELD = "a reserve ends with the tapes that hold it"


def check_reserve(subject: Subject) -> None:
    """Compare results and gradients with a reserve with those without, also of two calls at once, and twice."""
    assert subject.keeping is not None
    has_kept, others = False, {sample.name: sample for sample in subject.samples(seed=1)}
    for each in smooth_samples(subject, most=None):
        points = [each, each.at(others[each.sample.name])]
        with ag.device(subject.device.name):
            wanted = [_Call(point).gradients() for point in points]
            second = _second(each)
            with subject.keeping():
                _check_one(each, wanted[0])
                kept = _check_two(points, wanted)
                gc.collect()
                if any(array() is not None for array in kept):
                    raise Violation(HELD, each.sample.name, "no reference to a reserve", "one is left")
                _compare(each, f"{GRADIENT}, those of second order too", _second(each), second)
        has_kept |= bool(kept)
    if not has_kept:
        raise Untaken(RULE, "all", "results and a reserve", "NotImplemented for each call")


def _check_one(each: Smooth, wanted: Sequence[Array]) -> None:
    plain, call = _outs(each, list(map(ag.constant, each.inputs))), _Call(each)
    for out, right in zip(call.outs, plain, strict=True):
        if not same(out.numpy(), right.numpy()):
            raise Violation(RULE, each.sample.name, shown(right.numpy()), shown(out.numpy()))
    _compare(each, GRADIENT, call.gradients(), wanted)


def _check_two(points: Sequence[Smooth], wanted: Sequence[Sequence[Array]]) -> list[weakref.ref[Any]]:
    """Check two calls, whose gradients are taken after both; what they have kept."""
    host = points[0].subject.host
    calls = list(map(_Call, points))
    kept = [array for call in calls for array in call.kept()]
    before = list(map(host, kept))
    for rule in (SHARED, CHANGED):
        for point, call, gradients in zip(points, calls, wanted, strict=True):
            _compare(point, rule, call.gradients(), gradients)
        for array, bits in zip(kept, before, strict=True):
            if not same(found := host(array), bits):
                raise Violation(CHANGED, points[0].sample.name, shown(bits), shown(found))
    return [weakref.ref(array) for array in kept if type(array).__weakrefoffset__]


class _Call:
    """A call of an op under a tape, and its gradients for incoming ones that differ from each other."""

    def __init__(self, each: Smooth) -> None:
        self._sources = list(map(ag.constant, each.inputs))
        with ag.GradientTape(persistent=True) as self._tape:
            self._tape.watch(self._sources)
            self.outs = _outs(each, self._sources)
        rng = np.random.default_rng(each.subject.seed)
        self._seeds = [ag.constant(rng.uniform(0.5, 1.5, tuple(out._shape)), out.dtype) for out in self.outs]

    def kept(self) -> list[Any]:
        """The arrays that kernels have kept."""
        saved = [value for *_, values in self._tape.records for value in values if isinstance(value, ag.Tensor)]
        found = [value._array for value in saved if type(value._array) is Variant]
        return list({id(each.array): each.array for each in found if each.array is not None}.values())

    def gradients(self) -> list[Array]:
        found = self._tape.gradient(self.outs, self._sources, self._seeds, unconnected_gradients="zero")
        return [gradient.numpy() for gradient in found]


def _second(each: Smooth) -> list[Array]:
    """Gradients of the sum of squares of the gradients of all results' cubes."""
    sources = list(map(ag.constant, each.inputs))
    with ag.GradientTape() as outer:
        outer.watch(sources)
        with ag.GradientTape() as inner:
            inner.watch(sources)
            cubes = [out * out * out for out in _outs(each, sources)]
        first = inner.gradient(cubes, sources, unconnected_gradients="zero")
        squares = [gradient * gradient for gradient in first]
    return [gradient.numpy() for gradient in outer.gradient(squares, sources, unconnected_gradients="zero")]


def _outs(each: Smooth, sources: Sequence[ag.Tensor]) -> list[ag.Tensor]:
    return [out for out in nest.flatten(each.function()(*sources)) if out.dtype.is_differentiable]


def _compare(each: Smooth, rule: str, found: Sequence[Array], wanted: Sequence[Array]) -> None:
    rtol = 8 * each.subject.tolerance(each.subject.dtype)[0]
    for got, right in zip(found, wanted, strict=True):
        scale = max(1.0, float(np.max(np.abs(right), initial=0)))
        if not np.allclose(got, right, rtol, rtol * scale):
            raise Violation(rule, each.sample.name, shown(right), shown(got))
