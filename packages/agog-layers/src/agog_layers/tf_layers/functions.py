"""Functions: the functions of ``tf.layers``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from agog_core import Tensor
from agog_layers.arguments.checks import refuse_unknown
from agog_layers.naming.names import snake_case
from agog_layers.naming.variable_store import active_store
from agog_layers.tf_layers import layers
from agog_layers.tf_layers.variable_scope import get_variable_scope

__all__ = [
    "average_pooling1d",
    "average_pooling2d",
    "average_pooling3d",
    "batch_normalization",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "dense",
    "max_pooling1d",
    "max_pooling2d",
    "max_pooling3d",
    "separable_conv1d",
    "separable_conv2d",
]


def functional(layer: type[layers.Layer], order: Sequence[str] = (), without: Sequence[str] = ()) -> Callable[..., Any]:
    """Make the function of a layer, as ``tf.layers.conv2d`` is that of `Conv2D`.

    It takes the inputs and the constructor's arguments. ``order`` names those that come last: of the constructor or the
    base `Layer`; ``"training"``, which the call takes; and ``"reuse"``: whether the variables of the layer of this name
    are found again. ``without`` names arguments of the constructor that ``tf.keras`` alone has.

    What it is not given it takes from the `variable_scope` around it, as the layer does; also whether variables are
    found again.

    >>> import agog_core as ag
    >>> from agog_layers.tf_layers.layers import Conv2D
    >>> conv2d = functional(Conv2D, ("trainable", "name", "reuse"))
    >>> conv2d(ag.zeros([1, 5, 5, 3]), 32, 3, activation="relu").shape
    TensorShape([1, 3, 3, 32])
    """
    function_name = snake_case(layer.__name__)
    signature = _signature(layer, order, without)

    def function(*args: Any, **kwargs: Any) -> Tensor:
        try:
            arguments = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            refuse_unknown(function_name, kwargs, signature.parameters)
            raise TypeError(f"{function_name}: {error}.") from None
        inputs = arguments.pop("inputs")
        called = {"training": arguments.pop("training", False)} if "training" in order else {}
        if arguments.pop("reuse", None) or get_variable_scope().reuse is True:
            check_reuse(function_name, layer.__name__)
        made = layer(**arguments)
        made._runs_once = True
        outputs: Tensor = made(inputs, **called)
        return outputs

    function.__name__ = function.__qualname__ = function_name
    function.__signature__ = signature  # type: ignore[attr-defined]  # inspect looks for it
    function.__doc__ = _documentation(layer, signature)
    return function


def check_reuse(function: str, layer: str) -> None:
    """Raise a RuntimeError when variables shall be found again, but no `EagerVariableStore` is active to keep them."""
    if active_store() is None:
        raise RuntimeError(
            f"{function}: variables are found again by name only while an EagerVariableStore is active "
            f"(tfe.EagerVariableStore().as_default()); or make a {layer} layer and call that twice."
        )


_DEFAULTS = {"training": False, "trainable": True, "name": None, "reuse": None}


def _signature(layer: type[layers.Layer], order: Sequence[str], without: Sequence[str]) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = {
        name: parameter.replace(kind=kind)
        for name, parameter in inspect.signature(layer).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD and name not in without
    }
    first = [parameter for name, parameter in own.items() if name not in order]
    last = [own.get(name) or inspect.Parameter(name, kind, default=_DEFAULTS[name]) for name in order]
    return inspect.Signature([inspect.Parameter("inputs", kind), *first, *last], return_annotation="Tensor")


_MEANINGS = {
    "reuse": "whether the variables of the layer of this name are found again",
    "training": "whether the layer is trained now",
}


def _documentation(layer: type[layers.Layer], signature: inspect.Signature) -> str:
    return "\n".join(
        [
            f"Run a new `{layer.__name__}` layer, whose variables an active `EagerVariableStore` keeps by name.",
            "",
            "Args:",
            "    inputs: the layer's input.",
            *(f"    {name}: {meaning}." for name, meaning in _MEANINGS.items() if name in signature.parameters),
            f"    Other arguments: see `{layer.__name__}`.",
            "",
            "Returns:",
            "    The layer's output.",
            "",
        ]
    )


_VARIABLES = ("trainable", "name", "reuse")

dense = functional(layers.Dense, _VARIABLES)
conv1d = functional(layers.Conv1D, _VARIABLES, ("groups",))
conv2d = functional(layers.Conv2D, _VARIABLES, ("groups",))
conv3d = functional(layers.Conv3D, _VARIABLES, ("groups",))
conv2d_transpose = functional(layers.Conv2DTranspose, _VARIABLES, ("output_padding",))
conv3d_transpose = functional(layers.Conv3DTranspose, _VARIABLES, ("output_padding",))
separable_conv1d = functional(layers.SeparableConv1D, _VARIABLES)
separable_conv2d = functional(layers.SeparableConv2D, _VARIABLES)
max_pooling1d = functional(layers.MaxPooling1D)
max_pooling2d = functional(layers.MaxPooling2D)
max_pooling3d = functional(layers.MaxPooling3D)
average_pooling1d = functional(layers.AveragePooling1D)
average_pooling2d = functional(layers.AveragePooling2D)
average_pooling3d = functional(layers.AveragePooling3D)
batch_normalization = functional(
    layers.BatchNormalization,
    (
        *("training", "trainable", "name", "reuse", "renorm", "renorm_clipping", "renorm_momentum", "fused"),
        *("virtual_batch_size", "adjustment"),
    ),
    ("synchronize",),
)
