"""Convolution: forward, with a bias and an activation or without, and both gradients.

Activations are never reordered; filters are when they change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stranger_onednn.api import ENGINE, NULL, Arg, Is, described, lib, new, strided
from stranger_onednn.plans import Plan, Plans, contiguous
from stranger_onednn.windows import Form, Shape, are_taken, filters, image

Kernel = Callable[..., Any]
FUSED = ("linear", "relu")
"""The activations that oneDNN computes with a convolution; others are declined."""


class _Geometry(NamedTuple):
    """What a plan is made for: three shapes, how windows slide, and the number of groups."""

    input: Shape
    filter: Shape
    output: Shape
    form: Form
    groups: int

    def forward(self, bias: Any = NULL, attributes: Any = NULL) -> Any:
        """The description of a forward pass, which those of gradients ask for as a hint."""
        return described(
            lib.dnnl_convolution_forward_primitive_desc_create,
            *(ENGINE, Is.TRAINING, Is.DIRECT, image(self.input), filters(self.filter, self.groups)[1], bias),
            *(image(self.output), *self.form.native(), attributes),
        )


def _plan_forward(stream: Any, geometry: _Geometry) -> Plan:
    weights, _ = filters(geometry.filter, geometry.groups)
    layouts = {Arg.SOURCE: image(geometry.input), Arg.WEIGHTS: weights, Arg.TARGET: image(geometry.output)}
    return Plan(stream, geometry.forward(), layouts)


def _plan_with_bias(stream: Any, geometry: _Geometry, activation: str) -> Plan:
    weights, _ = filters(geometry.filter, geometry.groups)
    bias = strided(geometry.filter[-1:], (1,))
    layouts = {Arg.SOURCE: image(geometry.input), Arg.WEIGHTS: weights, Arg.BIAS: bias}
    return Plan(stream, geometry.forward(bias, fused(activation)), {**layouts, Arg.TARGET: image(geometry.output)})


def _plan_input_gradient(stream: Any, geometry: _Geometry) -> Plan:
    given, chosen = filters(geometry.filter, geometry.groups)
    source, target = image(geometry.input), image(geometry.output)
    description = described(
        lib.dnnl_convolution_backward_data_primitive_desc_create,
        *(ENGINE, Is.DIRECT, source, chosen, target, *geometry.form.native(), geometry.forward(), NULL),
    )
    return Plan(stream, description, {Arg.TARGET_GRADIENT: target, Arg.WEIGHTS: given, Arg.SOURCE_GRADIENT: source})


def _plan_filter_gradient(stream: Any, geometry: _Geometry) -> Plan:
    given, chosen = filters(geometry.filter, geometry.groups)
    source, target = image(geometry.input), image(geometry.output)
    description = described(
        lib.dnnl_convolution_backward_weights_primitive_desc_create,
        *(ENGINE, Is.DIRECT, source, chosen, NULL, target, *geometry.form.native(), geometry.forward(), NULL),
    )
    return Plan(stream, description, {Arg.SOURCE: source, Arg.TARGET_GRADIENT: target, Arg.WEIGHTS_GRADIENT: given})


def fused(activation: str) -> Any:
    """The attribute of a primitive that ends with an activation."""
    if activation == "linear":
        return NULL
    operations = new(lib.dnnl_post_ops_create, free=lib.dnnl_post_ops_destroy)
    lib.dnnl_post_ops_append_eltwise(operations, Is.RELU, 0.0, 0.0)
    attributes = new(lib.dnnl_primitive_attr_create, free=lib.dnnl_primitive_attr_destroy)
    lib.dnnl_primitive_attr_set_post_ops(attributes, operations)
    return attributes


def make_convolution(op: str, dtype: str, device: str) -> Kernel:
    """The kernel of a thread."""
    return returning(make_convolution_into(op, dtype, device))


def make_convolution_into(op: str, dtype: str, device: str) -> Kernel:
    """The kernel that fills an array."""
    plans = Plans(_plan_forward)

    def into(input: Any, filter: Any, *, out: Any, groups: int, **form: Any) -> Any:
        if not _takes(input, filter, out):
            return NotImplemented
        plan = plans(_Geometry(input.shape, filter.shape, out.shape, Form(**form), groups))
        return plan(contiguous(input), contiguous(filter), out)

    return into


def make_convolution_bias(op: str, dtype: str, device: str) -> Kernel:
    """The kernel of a thread for a convolution, a bias and an activation."""
    return returning(make_convolution_bias_into(op, dtype, device))


def make_convolution_bias_into(op: str, dtype: str, device: str) -> Kernel:
    """The kernel that fills an array with a convolution, a bias and an activation."""
    plans = Plans(_plan_with_bias)

    def into(input: Any, filter: Any, bias: Any, *, out: Any, groups: int, activation: str, **form: Any) -> Any:
        if activation not in FUSED or not _takes(input, filter, out):
            return NotImplemented
        plan = plans(_Geometry(input.shape, filter.shape, out.shape, Form(**form), groups), activation)
        return plan(contiguous(input), contiguous(filter), contiguous(bias), out)

    return into


def returning(into: Kernel) -> Kernel:
    """The kernel that returns an array, of the one that fills it."""

    def run(input: Any, filter: Any, *others: Any, **attributes: Any) -> Any:
        form = Form(attributes["strides"], attributes["paddings"], attributes["dilations"])
        out = np.empty(form.output_shape(input.shape, filter.shape[:-2], filter.shape[-1]), np.float32)
        return out if into(input, filter, *others, out=out, **attributes) is None else NotImplemented

    return run


def _takes(input: Any, filter: Any, out: Any) -> bool:
    return are_taken(input.shape, filter.shape, out.shape) and bool(out.flags.c_contiguous)


def make_input_gradient(op: str, dtype: str, device: str) -> Kernel:
    """The kernel of a thread for the gradient of the input."""
    plans = Plans(_plan_input_gradient)

    def input_gradient(gradient: Any, filter: Any, *, input_shape: Any, groups: int, **form: Any) -> Any:
        shape = tuple(input_shape)
        if not are_taken(shape, filter.shape, gradient.shape):
            return NotImplemented
        out = np.empty(shape, np.float32)
        plan = plans(_Geometry(shape, filter.shape, gradient.shape, Form(**form), groups))
        plan(contiguous(gradient), contiguous(filter), out)
        return out

    return input_gradient


def make_filter_gradient(op: str, dtype: str, device: str) -> Kernel:
    """The kernel of a thread for the gradient of the filter."""
    plans = Plans(_plan_filter_gradient)

    def filter_gradient(input: Any, gradient: Any, *, filter_shape: Any, groups: int, **form: Any) -> Any:
        shape = tuple(filter_shape)
        if not are_taken(input.shape, shape, gradient.shape):
            return NotImplemented
        out = np.empty(shape, np.float32)
        plan = plans(_Geometry(input.shape, shape, gradient.shape, Form(**form), groups))
        plan(contiguous(input), contiguous(gradient), out)
        return out

    return filter_gradient
