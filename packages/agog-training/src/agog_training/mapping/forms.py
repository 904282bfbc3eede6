"""Forms: how the value of a weight comes of the tensors of a file, in its own layout or in PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from agog_layers import (
    Bidirectional,
    Dense,
    Embedding,
    GRUCell,
    LayerNormalization,
    LSTMCell,
    MultiHeadAttention,
    PReLU,
    RMSNormalization,
    SimpleRNNCell,
)
from agog_layers.convolutional.convolution import Conv
from agog_layers.convolutional.deconvolution import ConvTranspose
from agog_layers.convolutional.separable import Depthwise
from agog_layers.normalizing.normalization import Normalizing
from agog_training.mapping.places import Place

__all__ = ["Form", "Forms", "fitting", "of_pytorch", "of_the_same_layout", "plain", "shape_of", "turned"]

Shape = tuple[int, ...]
Forms = dict[str, "Form"]

# What other programs with the same layout call the weights.
_ALSO = {
    "kernel": ("w",),
    "embeddings": ("embedding",),
    "gamma": ("scale",),
    "beta": ("bias", "offset"),
    "bias": ("b",),
    "moving_mean": ("mean",),
    "moving_variance": ("variance", "var"),
}
_NORMALIZED = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}


def _alone(array: Any) -> Any:
    return array


class Form(NamedTuple):
    """Which tensors of a module the value of a weight comes of, and how.

    Args:
        leaves: what they are in the module.
        shape: the shape of each; their axes are transposed first.
        axes: the order of their axes.
        value: the function of the transposed tensors.
        how: what the function does, in a word.
        doubt: why it may be another one.
        by_pytorch: whether features are in PyTorch's order.
    """

    leaves: tuple[str, ...]
    shape: Shape
    axes: tuple[int, ...]
    value: Callable[..., Any] = _alone
    how: str = ""
    doubt: str = ""
    by_pytorch: bool = True


def plain(shape: Shape, leaf: str, by_pytorch: bool = True) -> Form:
    """A tensor as it is."""
    return Form((leaf,), shape, tuple(range(len(shape))), by_pytorch=by_pytorch)


def turned(shape: Shape, leaf: str) -> Form:
    """A kernel (window..., in, out), which PyTorch has as (out, in, window...).

    >>> turned((3, 5, 8, 16), "weight").shape
    (16, 8, 3, 5)
    """
    rank = len(shape)
    return Form((leaf,), (shape[-1], shape[-2], *shape[:-2]), (*range(2, rank), 1, 0))


def of_the_same_layout(place: Place, shapes: Mapping[str, Shape]) -> Forms | None:
    """The forms in files of agog, Keras and others whose tensors lie as the weights do; None for other modules."""
    forms: Forms = {}
    for role, variable in place.variables.items():
        names = (role, role.replace("/", "_"), *_ALSO.get(role, ()))
        leaf = next((name for name in names if name in shapes), None)
        if leaf is None:
            return None
        forms[role] = plain(shape_of(variable), leaf, by_pytorch=False)
    return forms


def of_pytorch(place: Place, shapes: Mapping[str, Shape], matrices: str = "turned") -> Forms | None:
    """The forms in modules of PyTorch, of which one has these shapes; None for a layer that PyTorch has not.

    ``matrices`` says how those of Dense layers lie: "turned", as PyTorch has them, "plain", or "either".
    """
    needed = {role: shape_of(variable) for role, variable in place.variables.items()}
    for kinds, rule in _RULES:
        if isinstance(place.layer, kinds):
            forms: Forms | None = rule(place.layer, needed, shapes)
            if forms is not None and isinstance(place.layer, Dense) and matrices != "turned":
                forms["kernel"] = _matrix(needed["kernel"], shapes.get("weight"), matrices)
            return forms
    return None


def fitting(place: Place, shapes: Mapping[str, Shape], matrices: str = "turned") -> Forms | None:
    """The forms that take all tensors of a module, each of its shape; None if the module is not this place's."""
    for forms in (of_pytorch(place, shapes, matrices), of_the_same_layout(place, shapes)):
        if forms is not None and _taken(forms) == dict(shapes):
            return forms
    return None


def _taken(forms: Forms) -> dict[str, Shape]:
    return {leaf: form.shape for form in forms.values() for leaf in form.leaves}


def shape_of(variable: Any) -> Shape:
    """The shape of a variable as a tuple."""
    return tuple(variable.shape.as_list())


def _matrix(shape: Shape, theirs: Shape | None, matrices: str) -> Form:
    as_it_is, transposed = plain(shape, "weight"), turned(shape, "weight")
    if matrices == "either" and shape[0] == shape[1]:
        return transposed._replace(doubt="other matrices of the file lie either way, and this one is square")
    return transposed if matrices == "either" and theirs == transposed.shape else as_it_is


# PyTorch's layers, by the classes here.


def _dense(layer: Any, needed: Mapping[str, Shape], shapes: Mapping[str, Shape]) -> Forms:
    return {
        role: turned(shape, "weight") if role.endswith("kernel") else plain(shape, "bias")
        for role, shape in needed.items()
    }


def _depthwise(layer: Any, needed: Mapping[str, Shape], shapes: Mapping[str, Shape]) -> Forms:
    """PyTorch's groups are the channels: (channels * multiplier, 1, window...)."""
    forms = _dense(layer, needed, shapes)
    if "depthwise_kernel" in needed:
        *window, channels, multiplier = needed["depthwise_kernel"]
        forms["depthwise_kernel"] = Form(
            ("weight",),
            (channels * multiplier, 1, *window),
            (*range(2, len(window) + 2), 1, 0),
            lambda x: x.reshape(*window, channels, multiplier),
        )
    return forms


def _normalization(layer: Any, needed: Mapping[str, Shape], shapes: Mapping[str, Shape]) -> Forms:
    return {role: plain(shape, _NORMALIZED[role]) for role, shape in needed.items()}


def _layer_normalization(layer: Any, needed: Mapping[str, Shape], shapes: Mapping[str, Shape]) -> Forms:
    """Along several axes the channels may be in front, as convolutions of PyTorch have them."""
    forms = _normalization(layer, needed, shapes)
    for role, form in forms.items():
        in_front = (form.shape[-1], *form.shape[:-1])
        if shapes.get(form.leaves[0]) == in_front and len(in_front) > 1:
            axes = (*range(1, len(in_front)), 0)
            doubt = "its axes are of one size, so that channels may be in front or behind"
            forms[role] = form._replace(shape=in_front, axes=axes, doubt=doubt if in_front == form.shape else "")
    return forms


def _embedding(layer: Any, needed: Mapping[str, Shape], shapes: Mapping[str, Shape]) -> Forms:
    return {role: plain(shape, "weight") for role, shape in needed.items()}


def _prelu(layer: Any, needed: Mapping[str, Shape], shapes: Mapping[str, Shape]) -> Forms | None:
    """PyTorch has one slope for all, or one for each channel."""
    shape, theirs = needed["alpha"], shapes.get("weight", ())
    if len(theirs) != 1 or theirs[0] not in (1, shape[-1], math.prod(shape)):
        return None
    if theirs[0] == math.prod(shape):
        return {"alpha": Form(("weight",), theirs, (0,), lambda x: x.reshape(shape))}
    return {"alpha": Form(("weight",), theirs, (0,), lambda x: np.broadcast_to(x, shape), "repeated")}


def _recurrent(order: tuple[int, ...] | None) -> Callable[..., Forms | None]:
    """The rule for cells of PyTorch, whose gates are in this order of the ones here; it has two biases."""

    def gates(x: Any, axis: int = -1) -> Any:
        parts = np.split(x, len(order or (0,)), axis)
        return x if order is None else np.concatenate([parts[number] for number in order], axis)

    def rule(cell: Any, needed: Mapping[str, Shape], shapes: Mapping[str, Shape]) -> Forms | None:
        if not getattr(cell, "reset_after", True):
            return None
        how = "" if order is None else "gates reordered"
        forms = {
            role: turned(needed[role], leaf)._replace(value=gates, how=how)
            for role, leaf in (("kernel", "weight_ih"), ("recurrent_kernel", "weight_hh"))
        }
        if "bias" in needed:
            joined = _joined_biases(needed["bias"], cell.gates * cell.units)
            forms["bias"] = Form(
                ("bias_ih", "bias_hh"),
                (cell.gates * cell.units,),
                (0,),
                lambda one, two: joined(gates(one), gates(two)),
                "joined" if how else "added",
            )
        return forms

    return rule


def _joined_biases(shape: Shape, width: int) -> Callable[[Any, Any], Any]:
    """What makes one bias of two: their sum, or both where there is room."""
    if math.prod(shape) == width:
        return np.add
    return lambda one, two: np.stack([one, two]).reshape(shape)


def _bidirectional(layer: Any, needed: Mapping[str, Shape], shapes: Mapping[str, Shape]) -> Forms | None:
    forms: Forms = {}
    for half, each in (("forward", layer.forward_layer), ("backward", layer.backward_layer)):
        own = {role.removeprefix(f"{half}/"): shape for role, shape in needed.items() if role.startswith(half)}
        rule = next((rule for kinds, rule in _RULES if isinstance(getattr(each, "cell", None), kinds)), None)
        found = None if rule is None else rule(each.cell, own, shapes)
        if found is None:
            return None
        for role, form in found.items():
            forms[f"{half}/{role}"] = form._replace(leaves=tuple(f"{half}/{leaf}" for leaf in form.leaves))
    return forms


def _attention(layer: Any, needed: Mapping[str, Shape], shapes: Mapping[str, Shape]) -> Forms | None:
    """PyTorch has the heads side by side, and the three projections as one matrix, unless their inputs differ."""
    width = math.prod(needed["query/kernel"][1:])
    if math.prod(needed["value/kernel"][1:]) != width:
        return None
    forms: Forms = {}
    for number, name in enumerate(("query", "key", "value")):
        kernel, rows = needed[f"{name}/kernel"], slice(number * width, (number + 1) * width)
        if "in_proj_weight" in shapes:
            forms[f"{name}/kernel"] = Form(
                ("in_proj_weight",),
                (3 * width, kernel[0]),
                (1, 0),
                lambda x, rows=rows, kernel=kernel: x[:, rows].reshape(kernel),
                f"rows {rows.start}:{rows.stop}",
            )
        else:
            forms[f"{name}/kernel"] = Form(
                (f"{name[0]}_proj_weight",),
                (width, kernel[0]),
                (1, 0),
                lambda x, kernel=kernel: x.reshape(kernel),
            )
        if layer.use_bias:
            forms[f"{name}/bias"] = Form(
                ("in_proj_bias",),
                (3 * width,),
                (0,),
                lambda x, rows=rows, kernel=kernel: x[rows].reshape(kernel[1:]),
                f"rows {rows.start}:{rows.stop}",
            )
    output = needed["attention_output/kernel"]
    forms["attention_output/kernel"] = Form(
        ("out_proj.weight",), (output[-1], width), (1, 0), lambda x: x.reshape(output)
    )
    if layer.use_bias:
        forms["attention_output/bias"] = plain(output[-1:], "out_proj.bias")
    return forms


def _rms(layer: Any, needed: Mapping[str, Shape], shapes: Mapping[str, Shape]) -> Forms:
    return {role: plain(shape, "weight") for role, shape in needed.items()}


_RULES: tuple[tuple[Any, Callable[..., Forms | None]], ...] = (
    ((Dense, Conv, ConvTranspose), _dense),
    (Depthwise, _depthwise),
    (LayerNormalization, _layer_normalization),
    (Normalizing, _normalization),
    (RMSNormalization, _rms),
    (Embedding, _embedding),
    (PReLU, _prelu),
    ((LSTMCell, SimpleRNNCell), _recurrent(None)),
    (GRUCell, _recurrent((1, 0, 2))),
    (Bidirectional, _bidirectional),
    (MultiHeadAttention, _attention),
)
