"""Forms: from the tensors of a file to the value of a weight, in agog's or PyTorch's layout."""

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
from agog_layers.convolution.convolution import Conv
from agog_layers.convolution.deconvolution import ConvTranspose
from agog_layers.convolution.separable_convolution import Depthwise
from agog_layers.normalization.layer_normalization import Normalizing
from agog_training.mapping.flow import IMAGE, SAME
from agog_training.mapping.places import Place

__all__ = [
    "IN_FOUR",
    "Form",
    "Forms",
    "fitting",
    "of_another_kind",
    "of_its_kind",
    "of_pytorch",
    "of_the_same_layout",
    "plain",
    "shape_of",
    "turned",
]

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
# A leaf of attentions whose four projections are modules of their own.
IN_FOUR: Mapping[str, Shape] = {"query/weight": ()}
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
        layout: how axes lie behind the module, which is of another kind than the layer; see `Flow`.
    """

    leaves: tuple[str, ...]
    shape: Shape
    axes: tuple[int, ...]
    value: Callable[..., Any] = _alone
    how: str = ""
    doubt: str = ""
    by_pytorch: bool = True
    layout: str = ""


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

    ``matrices`` says how those of Dense layers lie: "turned", as in PyTorch, "plain", or "either".
    """
    needed = {role: shape_of(variable) for role, variable in place.variables.items()}
    vector = needed.pop("vector_u", None)
    for kinds, rule in _RULES:
        if isinstance(place.layer, kinds):
            forms: Forms | None = rule(place.layer, needed, shapes)
            if forms is not None and isinstance(place.layer, Dense):
                forms["kernel"] = _matrix(needed["kernel"], shapes.get("weight"), matrices)
            if forms is not None and vector is not None:
                forms["vector_u"] = Form(("weight_u",), vector[1:], (0,), lambda x: x[None])
            return forms
    return None


def fitting(place: Place, shapes: Mapping[str, Shape], matrices: str = "turned") -> Forms | None:
    """The forms that take all tensors of a module, each of its shape; None if the module is not this place's."""
    return of_its_kind(place, shapes, matrices) or of_another_kind(place, shapes, matrices)


def of_its_kind(place: Place, shapes: Mapping[str, Shape], matrices: str = "turned") -> Forms | None:
    """The forms of a module that is the layer's in PyTorch, or one of its layout here."""
    rules = (of_pytorch(place, shapes, matrices), of_the_same_layout(place, shapes))
    return next((forms for forms in rules if forms is not None and _takes_all(place, forms, shapes)), None)


def of_another_kind(place: Place, shapes: Mapping[str, Shape], matrices: str = "turned") -> Forms | None:
    """The forms of a convolution with a window of 1 for a Dense layer, and of a matrix for such a convolution."""
    layer, theirs, kernel = place.layer, shapes.get("weight", ()), place.variables.get("kernel")
    if not isinstance(layer, (Dense, Conv)) or kernel is None or getattr(layer, "groups", 1) != 1:
        return None
    shape, window = shape_of(kernel), math.prod(theirs[2:])
    if window != 1 or math.prod(shape[:-2]) != 1 or len(theirs) == len(shape):
        return None
    forms = _dense(layer, {role: shape_of(variable) for role, variable in place.variables.items()}, shapes)
    if len(theirs) == 2:
        matrix = _matrix(shape[-2:], theirs, matrices)._replace(layout=SAME)
    else:
        matrix = Form(("weight",), (shape[-1], shape[-2], *theirs[2:]), (*range(2, len(theirs)), 1, 0), layout=IMAGE)
    forms["kernel"] = matrix._replace(value=lambda x: x.reshape(shape), how="a window of 1")
    return forms if _takes_all(place, forms, shapes) else None


def _takes_all(place: Place, forms: Forms, shapes: Mapping[str, Shape]) -> bool:
    """Whether forms take all tensors of a module, each of its shape; a vector of a spectral norm may be left."""
    wanted = {leaf: shape for leaf, shape in shapes.items() if leaf != "weight_u" or "vector_u" in place.variables}
    return _taken(forms) == wanted


def _taken(forms: Forms) -> dict[str, Shape]:
    return {leaf: form.shape for form in forms.values() for leaf in form.leaves}


def shape_of(variable: Any) -> Shape:
    """The shape of a variable as a tuple."""
    return tuple(variable.shape.as_list())


def _matrix(shape: Shape, theirs: Shape | None, matrices: str) -> Form:
    as_it_is, transposed = plain(shape, "weight"), turned(shape, "weight")
    if matrices == "turned":
        return transposed
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
    """The merge of two biases: their sum, or both if the layer has two."""
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
    """PyTorch has the heads side by side, and the three projections as one matrix, unless their inputs differ; other
    programs have four modules."""
    projections = ("query", "key", "value")
    widths = {math.prod(needed[f"{name}/kernel"][1:]) for name in projections}
    in_four = not shapes.keys().isdisjoint(IN_FOUR)
    if len(widths) != 1 and not in_four:
        return None
    forms: Forms = {}
    for number, name in enumerate(projections):
        kernel = needed[f"{name}/kernel"]
        width = math.prod(kernel[1:])
        rows = slice(number * width, (number + 1) * width)
        weight, bias, packed = f"{name[0]}_proj_weight", "in_proj_bias", True
        if in_four:
            weight, bias, packed = f"{name}/weight", f"{name}/bias", False
        forms[f"{name}/kernel"] = _projection(weight, (width, kernel[0]), (1, 0), kernel)
        if "in_proj_weight" in shapes:
            forms[f"{name}/kernel"] = _projection("in_proj_weight", (3 * width, kernel[0]), (1, 0), kernel, rows)
        if layer.use_bias:
            length = 3 * width if packed else width
            forms[f"{name}/bias"] = _projection(bias, (length,), (0,), kernel[1:], rows if packed else None)
    output = needed["attention_output/kernel"]
    names = [f"attention_output/{leaf}" if in_four else f"out_proj.{leaf}" for leaf in ("weight", "bias")]
    forms["attention_output/kernel"] = _projection(names[0], (output[-1], math.prod(output[:-1])), (1, 0), output)
    if layer.use_bias:
        forms["attention_output/bias"] = plain(output[-1:], names[1])
    return forms


def _projection(leaf: str, shape: Shape, axes: Shape, ours: Shape, rows: slice | None = None) -> Form:
    """A tensor, or these rows of one that has several, with heads along an axis of their own."""
    if rows is None:
        return Form((leaf,), shape, axes, lambda x: x.reshape(ours))
    return Form((leaf,), shape, axes, lambda x: x[..., rows].reshape(ours), f"rows {rows.start}:{rows.stop}")


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
