"""Flow: the order of layers and the flattening of images, from one run of a model."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agog_core import TensorShape, Variable, nest, zeros
from agog_core.dispatch.kernels.observation import KernelCall, observe, unobserve
from agog_layers.layer.inference import without_traces
from agog_training.mapping.features import UNCLEAR, Order, Space, of_images

__all__ = ["IMAGE", "SAME", "Flow", "flow_of"]

Shape = tuple[int, ...]

# How axes lie that are (batch, ..., channels) here: in PyTorch channels come first; they come first in both; as here;
# or the tensor is an input.
IMAGE, _FIRST, SAME, _INPUT = "image", "first", "same", "input"
_OF_IMAGES = {
    *("convolution", "convolution_bias", "convolution_input_grad"),
    *("max_pool", "max_pool_with_argmax", "avg_pool"),
}
_OF_SEQUENCES = {"lstm", "gru", "gather"}


class _Split(NamedTuple):
    """The features split into an array's last axes, their order if these are an image's, and the layout."""

    space: Space
    order: Order
    layout: str | None


class _Seen(NamedTuple):
    """The facts about an array."""

    shape: Shape
    layout: str | None
    space: Space
    # The bits of the places that it depends on.
    before: int
    # The variables that it was computed from, if it depends on no input.
    variables: tuple[Variable, ...] = ()
    split: _Split | None = None


class Flow:
    """An observer of kernel calls (`agog_core.dispatch.kernels.observation.observe`), for one run of a model.

    Args:
        groups: the variables of each place whose order is asked for.
        inputs: the arrays that the model is called on.
        layouts: how axes lie in PyTorch behind places, by their numbers, where the layers alone would not say it.
    """

    def __init__(
        self, groups: Sequence[Sequence[Variable]], inputs: Sequence[Any], layouts: Mapping[int, str] | None = None
    ) -> None:
        self._layouts = layouts or {}
        self._thread = threading.get_ident()
        self._seen: dict[int, tuple[Any, _Seen]] = {}
        self._bits = {id(variable): 1 << place for place, group in enumerate(groups) for variable in group}
        self._before = [0] * len(groups)
        self._spaces: dict[tuple[int, int], list[Space]] = {}
        for group in groups:
            for variable in group:
                array = variable.value()._array
                self._keep(array, _Seen(array.shape, None, Space(array.shape[-1] if array.ndim else 1), 0, (variable,)))
        for array in inputs:
            self._keep(array, _Seen(array.shape, _INPUT, Space(array.shape[-1] if array.ndim else 1), 0))

    def comes_before(self, one: int, other: int) -> bool:
        """Whether there is a path from one place to another."""
        return bool(self._before[other] >> one & 1)

    def order(self, variable: Variable, axis: int) -> Order:
        """In which order PyTorch has the features along an axis of a variable."""
        orders = {space.order() for space in self._spaces.get((id(variable), axis), ())}
        return orders.pop() if len(orders) == 1 else UNCLEAR if orders else None

    def __call__(self, call: KernelCall) -> None:
        if threading.get_ident() != self._thread or not call.results:
            return
        inputs = [self._known(array) for array in call.arrays]
        data = [each for each in inputs if each is not None and not each.variables]
        variables = tuple({id(v): v for each in inputs if each for v in each.variables}.values())
        before = 0
        for each in data:
            before |= each.before
        if data:
            for variable in variables:
                bit = self._bits[id(variable)]
                self._before[bit.bit_length() - 1] |= before
                before |= bit
        for array in call.results:
            shape = tuple(array.shape)
            size = shape[-1] if shape else 1
            if data:
                layout, space, split = _rules.get(call.op.name, _elementwise)(call, data, shape)
                places = {self._bits[id(variable)].bit_length() - 1 for variable in variables}
                layout = next((self._layouts[place] for place in places if place in self._layouts), layout)
                self._keep(array, _Seen(shape, layout, space or Space(size), before, (), split))
                self._learn(call, inputs, self._known(array))
            elif variables:
                self._keep(array, _Seen(shape, None, Space(size), 0, variables))

    def _learn(self, call: KernelCall, inputs: Sequence[_Seen | None], output: _Seen | None) -> None:
        """Note which axes of variables stand for which features."""
        assert output is not None
        first = inputs[0]
        if call.op.name in ("matmul", "matmul_bias", "lstm", "gru"):
            kernel = inputs[1]
            if first is None or kernel is None:
                return
            for variable in kernel.variables:
                if kernel.shape == tuple(variable.shape.as_list()) and not call.attributes.get("transpose_b"):
                    self._note(variable, 0, first.space)
                    if call.op.name in ("matmul", "matmul_bias"):
                        self._note(variable, 1, output.space)
            for variable in inputs[2].variables if call.op.name == "matmul_bias" and inputs[2] is not None else ():
                self._note(variable, 0, output.space)
            return
        for each in inputs:
            for variable in each.variables if each is not None else ():
                sizes = variable.shape.as_list()
                if sizes and sizes[-1] == output.space.size:
                    self._note(variable, len(sizes) - 1, output.space)

    def _note(self, variable: Variable, axis: int, space: Space) -> None:
        self._spaces.setdefault((id(variable), axis), []).append(space)

    def _keep(self, array: Any, seen: _Seen) -> None:
        self._seen[id(array)] = (weakref.ref(array), seen)

    def _known(self, array: Any) -> _Seen | None:
        reference, seen = self._seen.get(id(array), (lambda: None, None))
        return seen if reference() is array else None


# What becomes of layout and features: rules of (call, inputs that depend on the model's inputs, shape of the output).

Outcome = tuple[str | None, Space | None, _Split | None]


def _elementwise(call: KernelCall, data: Sequence[_Seen], shape: Shape) -> Outcome:
    """Ops that keep the order of features, if their number stays."""
    like = [each for each in data if len(each.shape) == len(shape)]
    layout = next((each.layout for each in like if each.layout), None)
    same = [each.space for each in like if each.shape[-1:] == shape[-1:]]
    if not same:
        return layout, _taken(data, shape), None
    for other in same[1:]:
        same[0].join(other)
    return layout, same[0], next((each.split for each in like if each.split), None)


def _taken(data: Sequence[_Seen], shape: Shape) -> Space:
    """Features that came of others in an unknown way: their order is plain only if that of the others is."""
    return Space(shape[-1] if shape else 1, parts=[Space(0, parts=[each.space]) for each in data])


def _image(call: KernelCall, data: Sequence[_Seen], shape: Shape) -> Outcome:
    if data[0].split and data[0].split.order:  # the last axes are an image's after all
        data[0].split.space.say(data[0].split.order)
    return IMAGE, None, None


def _sequence(call: KernelCall, data: Sequence[_Seen], shape: Shape) -> Outcome:
    return SAME, None, None


def _matmul(call: KernelCall, data: Sequence[_Seen], shape: Shape) -> Outcome:
    """A product with a kernel makes new features, that of two results has those of the second."""
    return SAME, data[1].space if len(data) == 2 and data[1].space.size == shape[-1] else None, None


def _reduction(call: KernelCall, data: Sequence[_Seen], shape: Shape) -> Outcome:
    kept = len(data[0].shape) == len(shape)
    space = data[0].space if shape and data[0].shape[-1] == shape[-1] else None
    return data[0].layout if kept else SAME if len(shape) == 2 else None, space, None


def _concat(call: KernelCall, data: Sequence[_Seen], shape: Shape) -> Outcome:
    if call.attributes["axis"] % len(shape) != len(shape) - 1:
        return _elementwise(call, data, shape)
    layout = next((each.layout for each in data if each.layout), None)
    return layout, Space(shape[-1], parts=[each.space for each in data]), None


def _transpose(call: KernelCall, data: Sequence[_Seen], shape: Shape) -> Outcome:
    (x,), perm = data, tuple(call.attributes["perm"])
    rank = len(perm)
    space = x.space if perm[-1] == rank - 1 else _taken(data, shape)
    if perm == (0, rank - 1, *range(1, rank - 1)) and x.layout == IMAGE:
        return _FIRST, space, None
    if perm == (0, *range(2, rank), 1) and x.layout in (_FIRST, _INPUT):
        return IMAGE, space, None
    return x.layout if x.layout == SAME or perm == tuple(range(rank)) else None, space, None


def _reshape(call: KernelCall, data: Sequence[_Seen], shape: Shape) -> Outcome:
    x = data[0]
    old = x.shape
    if not old or not shape or old[-1] == shape[-1]:
        return x.layout, x.space if shape else None, x.split
    if x.split and x.split.space.size == shape[-1] and len(shape) < len(old):
        return x.split.layout, x.split.space, None
    front = len(shape) - 1
    if len(old) > len(shape) and old[:front] == shape[:-1] and math.prod(old[front:]) == shape[-1]:
        return SAME, Space(shape[-1], _flattened(x, old[front:], front)), None
    front = len(old) - 1
    if len(old) < len(shape) and shape[:front] == old[:-1]:
        order = of_images(shape[front:]) if front == 1 else None
        if len(shape) > 3 and order is not None:
            x.space.say(order)
        return IMAGE if len(shape) > 3 and front == 1 else None, None, _Split(x.space, order, x.layout)
    return None, _taken(data, shape), None


def _flattened(x: _Seen, sizes: Shape, front: int) -> Order:
    """The order of features from several flattened axes, the last of them the channels."""
    order = of_images(sizes)
    if order is None or x.layout == _FIRST or (x.layout in (SAME, _INPUT) and len(sizes) == 2):
        return None
    return order if x.layout in (IMAGE, _INPUT) and front == 1 else UNCLEAR


_rules: Mapping[str, Any] = {
    **dict.fromkeys(_OF_IMAGES, _image),
    **dict.fromkeys(_OF_SEQUENCES, _sequence),
    **dict.fromkeys(("reduce_max", "reduce_mean", "reduce_min", "reduce_sum"), _reduction),
    "concat": _concat,
    "matmul": _matmul,
    "matmul_bias": _matmul,
    "reshape": _reshape,
    "transpose": _transpose,
}


# What unknown sizes are in the tries of a run: the batch's, and others.
_SIZES = ((2, 32), (2, 224), (1, 32))


def flow_of(model: Any, groups: Sequence[Sequence[Variable]], layouts: Mapping[int, str] | None = None) -> Flow | None:
    """What a run of a model on zeros shows of groups of its variables; None if its inputs are not known, or it cannot
    run on zeros. For ``layouts`` see `Flow`."""
    ends = model._first_call()
    specs = getattr(model, "_built_on", None) if ends is None else ends.inputs
    if specs is None or any(spec is None or spec.shape.ndims is None for spec in nest.flatten(specs)):
        return None
    for batch, other in _SIZES:
        inputs = nest.map_structure(lambda spec: zeros(_sizes(spec.shape, batch, other), spec.dtype), specs)  # noqa: B023
        flow = Flow(groups, [leaf._array for leaf in nest.flatten(inputs)], layouts)
        observe(flow)
        try:
            with without_traces(model):
                model(inputs, training=False)
            return flow
        except Exception:  # the program's own code may raise anything, for zeros are not what it is for
            continue
        finally:
            unobserve(flow)
    return None


def _sizes(shape: TensorShape, batch: int, other: int) -> list[int]:
    sizes = shape.as_list()
    return [batch if axis == 0 else size or other for axis, size in enumerate(sizes)]
