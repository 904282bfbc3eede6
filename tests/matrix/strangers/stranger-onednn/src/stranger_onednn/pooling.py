"""Pooling: maxima of windows and their gradient, for which oneDNN keeps where the maxima are, its workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stranger_onednn.api import ENGINE, NULL, Arg, Is, described, dims, layout_of, lib
from stranger_onednn.plans import Plan, Plans, contiguous
from stranger_onednn.windows import Form, Shape, are_taken, image


class _Geometry(NamedTuple):
    """What a plan is made for: two shapes, the window, and how it slides."""

    input: Shape
    output: Shape
    window: Shape
    form: Form

    def native(self) -> tuple[Any, ...]:
        """Strides, window, dilations and paddings, as oneDNN takes them."""
        strides, *others = self.form.native()
        return strides, dims(self.window), *others

    def forward(self, kind: Is) -> Any:
        """The description of a forward pass; that for training has a workspace."""
        return described(
            lib.dnnl_pooling_forward_primitive_desc_create,
            *(ENGINE, kind, Is.MAX, image(self.input), image(self.output), *self.native(), NULL),
        )


def _geometry(input: Any, window: Any, strides: Any, paddings: Any, dilations: Any) -> _Geometry | None:
    """What a plan is made for; None for a call that is declined: oneDNN refuses paddings as large as windows."""
    form = Form(strides, paddings, dilations)
    output = form.output_shape(input.shape, window, input.shape[-1])
    axes = zip(paddings, window, dilations, strict=True)
    if not are_taken(input.shape, output) or any(max(pair) > (n - 1) * d for pair, n, d in axes):
        return None
    return _Geometry(input.shape, output, window, form)


def _has_plain_maxima(input: Any) -> bool:
    """Whether no maximum is NaN, which oneDNN swallows, or -inf, for which it has no place."""
    greatest = input.max()
    return bool(greatest == greatest and input.min() > -np.inf)


def make_max_pool(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of a thread."""
    plans = Plans(_plan)

    def max_pool(input: Any, **form: Any) -> Any:
        geometry = _geometry(input, **form)
        if geometry is None or not _has_plain_maxima(input):
            return NotImplemented
        out = np.empty(geometry.output, np.float32)
        plans(geometry)(contiguous(input), out)
        return out

    return max_pool


def make_max_pool_and_places(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel that keeps the workspace for the gradient's."""
    plans = Plans(_plan_for_training)

    def max_pool(input: Any, **form: Any) -> Any:
        geometry = _geometry(input, **form)
        if geometry is None or not _has_plain_maxima(input):
            return NotImplemented
        plan, size = plans(geometry)
        out, workspace = np.empty(geometry.output, np.float32), np.empty(size, np.uint8)
        plan(contiguous(input), out, workspace)
        return out, workspace

    return max_pool


def make_max_pool_grad(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel for a gradient without a workspace: it declines."""
    return lambda *arrays, **form: NotImplemented


def make_max_pool_grad_of_places(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of a thread for the gradient, which goes where the workspace says."""
    plans = Plans(_plan_gradient)

    def max_pool_grad(gradient: Any, input: Any, maxima: Any, workspace: Any, **form: Any) -> Any:
        geometry = _geometry(input, **form)
        if geometry is None:
            return NotImplemented
        out = np.empty(geometry.input, np.float32)
        plans(geometry)(contiguous(gradient), workspace, out)
        return out

    return max_pool_grad


def _plan(stream: Any, geometry: _Geometry) -> Plan:
    layouts = {Arg.SOURCE: image(geometry.input), Arg.TARGET: image(geometry.output)}
    return Plan(stream, geometry.forward(Is.INFERENCE), layouts)


def _plan_for_training(stream: Any, geometry: _Geometry) -> tuple[Plan, int]:
    """The plan, and the size of its workspace."""
    description = geometry.forward(Is.TRAINING)
    workspace = layout_of(description, Arg.WORKSPACE)
    layouts = {Arg.SOURCE: image(geometry.input), Arg.TARGET: image(geometry.output), Arg.WORKSPACE: workspace}
    return Plan(stream, description, layouts, results=2), lib.dnnl_memory_desc_get_size(workspace)


def _plan_gradient(stream: Any, geometry: _Geometry) -> Plan:
    forward, source, target = geometry.forward(Is.TRAINING), image(geometry.input), image(geometry.output)
    description = described(
        lib.dnnl_pooling_backward_primitive_desc_create,
        *(ENGINE, Is.MAX, source, target, *geometry.native(), forward, NULL),
    )
    workspace = layout_of(forward, Arg.WORKSPACE)
    return Plan(
        stream, description, {Arg.TARGET_GRADIENT: target, Arg.WORKSPACE: workspace, Arg.SOURCE_GRADIENT: source}
    )
