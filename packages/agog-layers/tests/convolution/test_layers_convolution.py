"""Convolutions of all kinds, against loops in NumPy and numerical differentiation."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_layers
from agog_layers import (
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    DepthwiseConv2D,
    SeparableConv1D,
    SeparableConv2D,
    conv1d,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    separable_conv1d,
    separable_conv2d,
)
from agog_testing import says

SEED = 91
Array = Any


def rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def paddings(padding: str, size: int, window: int, stride: int, rate: int) -> tuple[int, int]:
    reach = (window - 1) * rate
    if padding == "valid":
        return 0, 0
    if padding == "causal":
        return reach, 0
    total = max(0, (-(-size // stride) - 1) * stride + reach + 1 - size)
    return total // 2, total - total // 2


def steps(layer: Any) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, layer.kernel_size)))


def windows(layer: Any, x: Array) -> Any:
    """For each place of the output: what each step of the window sees, channels last."""
    axes = list(zip(x.shape[1:-1], layer.kernel_size, layer.strides, layer.dilation_rate, strict=True))
    around = [paddings(layer.padding, *form) for form in axes]
    whole = np.pad(x, [(0, 0), *around, (0, 0)])
    counts = [
        (size + sum(pair) - (n - 1) * rate - 1) // stride + 1
        for (size, n, stride, rate), pair in zip(axes, around, strict=True)
    ]
    seen = np.zeros((len(x), *counts, len(steps(layer)), x.shape[-1]))
    for place in np.ndindex(*counts):
        for number, step in enumerate(steps(layer)):
            at = tuple(
                p * s + k * r for p, s, k, r in zip(place, layer.strides, step, layer.dilation_rate, strict=True)
            )
            seen[(slice(None), *place, number)] = whole[(slice(None), *at)]
    return seen


def flat(kernel: Array, axes: int) -> Array:
    return kernel.reshape(-1, *kernel.shape[axes:])


def conv_oracle(layer: Any, x: Array, kernel: Array, bias: Array) -> Array:
    return np.einsum("...wc,wcf->...f", windows(layer, x), flat(kernel, layer.axes)) + bias


def depthwise_oracle(layer: Any, x: Array, kernel: Array, bias: Array) -> Array:
    out = np.einsum("...wc,wcm->...cm", windows(layer, x), flat(kernel, layer.axes))
    return out.reshape(*out.shape[:-2], -1) + bias


def separable_oracle(layer: Any, x: Array, depthwise: Array, pointwise: Array, bias: Array) -> Array:
    return depthwise_oracle(layer, x, depthwise, 0) @ flat(pointwise, layer.axes)[0] + bias


def transpose_oracle(layer: Any, x: Array, kernel: Array, bias: Array) -> Array:
    """Each input adds its window to the output, of which "same" keeps the middle."""
    n, strides = layer.kernel_size, layer.strides
    full = [(size - 1) * s + max(k, s) for size, k, s in zip(x.shape[1:-1], n, strides, strict=True)]
    out = np.zeros((len(x), *full, layer.filters))
    for place in np.ndindex(*x.shape[1:-1]):
        for step in steps(layer):
            at = tuple(p * s + k for p, s, k in zip(place, strides, step, strict=True))
            out[(slice(None), *at)] += x[(slice(None), *place)] @ kernel[step].T
    if layer.padding == "same":
        for axis, (size, k, s) in enumerate(zip(x.shape[1:-1], n, strides, strict=True), 1):
            low = max(0, k - s) // 2
            out = out.take(range(low, low + size * s), axis)
    return out + bias


def first(x: Array) -> Array:
    return np.moveaxis(x, -1, 1)


CASES: list[tuple[Any, tuple[int, ...], dict[str, Any], Callable[..., Array]]] = [
    *[
        (Conv1D, (2, 7, 2), dict(filters=3, kernel_size=3, padding=padding, **form), conv_oracle)
        for padding in ("valid", "same", "causal")
        for form in ({}, {"strides": 2}, {"dilation_rate": 2}, {"strides": (3,)})
    ],
    *[
        (Conv2D, (2, 5, 6, 2), dict(filters=3, kernel_size=(3, 2), padding=padding, **form), conv_oracle)
        for padding in ("valid", "same")
        for form in ({}, {"strides": (2, 1)}, {"dilation_rate": (1, 2)}, {"strides": 3})
    ],
    (Conv2D, (2, 4, 4, 3), {"filters": 2, "kernel_size": 1}, conv_oracle),
    *[
        (
            Conv3D,
            (1, 4, 3, 5, 2),
            {"filters": 2, "kernel_size": (2, 1, 3), "padding": padding, "strides": (2, 1, 1)},
            conv_oracle,
        )
        for padding in ("valid", "same")
    ],
    *[
        (DepthwiseConv2D, (2, 5, 4, 3), dict(kernel_size=(2, 3), padding=padding, **form), depthwise_oracle)
        for padding in ("valid", "same")
        for form in ({}, {"strides": 2, "depth_multiplier": 2}, {"dilation_rate": (2, 1)})
    ],
    *[
        (
            SeparableConv1D,
            (2, 6, 3),
            {"filters": 2, "kernel_size": 2, "padding": padding, "depth_multiplier": 2},
            separable_oracle,
        )
        for padding in ("valid", "same", "causal")
    ],
    *[
        (SeparableConv2D, (2, 5, 4, 3), dict(filters=2, kernel_size=(2, 3), padding=padding, **form), separable_oracle)
        for padding in ("valid", "same")
        for form in ({}, {"strides": 2, "depth_multiplier": 2}, {"dilation_rate": 2})
        if padding == "same" or "dilation_rate" not in form
    ],
    *[
        (Conv2DTranspose, (2, 3, 4, 2), dict(filters=3, kernel_size=(3, 2), padding=padding, **form), transpose_oracle)
        for padding in ("valid", "same")
        for form in ({}, {"strides": 2}, {"strides": (1, 3)})
    ],
    *[
        (
            Conv3DTranspose,
            (1, 2, 3, 2, 2),
            {"filters": 2, "kernel_size": 2, "padding": padding, "strides": (1, 2, 1)},
            transpose_oracle,
        )
        for padding in ("valid", "same")
    ],
]


def built(kind: Any, shape: tuple[int, ...], **arguments: Any) -> tuple[Any, Array]:
    numbers = rng()
    x = numbers.normal(size=shape)
    layer = kind(**arguments)
    layer(ag.constant(x))
    for variable in layer.variables:
        variable.assign(numbers.normal(size=variable.shape.as_list()))
    return layer, x


def name_of(value: Any) -> str:
    if isinstance(value, dict):
        return "-".join(f"{key}={part}" for key, part in value.items() if key not in ("filters", "kernel_size"))
    return getattr(value, "__name__", None) or "x".join(map(str, value))


@pytest.mark.parametrize(("kind", "shape", "arguments", "oracle"), CASES, ids=name_of)
def test_values(kind: Any, shape: tuple[int, ...], arguments: dict[str, Any], oracle: Callable[..., Array]) -> None:
    layer, x = built(kind, shape, **arguments)
    weights = [v.numpy() for v in layer.variables]
    expected = oracle(layer, x, *weights)
    got = layer(ag.constant(x))
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-11, atol=1e-11, err_msg=f"seed {SEED}")
    assert layer.compute_output_shape(shape) == got.shape
    unknown = layer.compute_output_shape((None,) * (len(shape) - 1) + shape[-1:]).as_list()
    assert unknown == [None] * (len(shape) - 1) + [got.shape[-1]]

    turned = kind(**arguments, data_format="channels_first")
    turned.build(ag.TensorShape(first(x).shape))
    for variable, weight in zip(turned.variables, weights, strict=True):
        variable.assign(weight)
    got = turned(ag.constant(first(x), "float32"))
    np.testing.assert_allclose(got.numpy(), first(expected), rtol=1e-4, atol=1e-4, err_msg=f"seed {SEED}")
    assert turned.compute_output_shape(first(x).shape) == got.shape


@pytest.mark.parametrize(
    ("kind", "shape", "arguments"),
    [
        (Conv1D, (1, 4, 2), {"filters": 2, "kernel_size": 2, "padding": "causal", "activation": "tanh"}),
        (Conv2D, (1, 3, 3, 2), {"filters": 2, "kernel_size": 2, "padding": "same", "activation": "tanh"}),
        (Conv2D, (1, 1, 3, 3), {"filters": 2, "kernel_size": 2, "strides": 2, "data_format": "channels_first"}),
        (Conv3D, (1, 2, 2, 3, 1), {"filters": 2, "kernel_size": (1, 2, 2), "activation": "sigmoid"}),
        (Conv2DTranspose, (1, 2, 2, 2), {"filters": 2, "kernel_size": 2, "strides": 2, "activation": "tanh"}),
        (DepthwiseConv2D, (1, 3, 3, 2), {"kernel_size": 2, "depth_multiplier": 2, "activation": "tanh"}),
        (SeparableConv2D, (1, 3, 3, 2), {"filters": 2, "kernel_size": 2, "activation": "tanh"}),
    ],
    ids=name_of,
)
def test_gradients(
    kind: Any, shape: tuple[int, ...], arguments: dict[str, Any], check_gradients: Callable[..., None]
) -> None:
    layer, x = built(kind, shape, **arguments)
    check_gradients(layer, [x], layer.variables)


@pytest.mark.parametrize(
    ("layer", "shape", "expected"),
    [
        (Conv1D(5, 3), (1, 4, 2), {"kernel": (3, 2, 5), "bias": (5,)}),
        (Conv2D(5, (3, 4)), (1, 4, 4, 2), {"kernel": (3, 4, 2, 5), "bias": (5,)}),
        (Conv2D(5, 1, use_bias=False), (1, 4, 4, 2), {"kernel": (1, 1, 2, 5)}),
        (Conv3D(5, 2), (1, 2, 2, 2, 3), {"kernel": (2, 2, 2, 3, 5), "bias": (5,)}),
        (Conv2DTranspose(5, 2), (1, 2, 2, 3), {"kernel": (2, 2, 5, 3), "bias": (5,)}),
        (Conv3DTranspose(5, 2), (1, 2, 2, 2, 3), {"kernel": (2, 2, 2, 5, 3), "bias": (5,)}),
        (DepthwiseConv2D(2, depth_multiplier=4), (1, 2, 2, 3), {"depthwise_kernel": (2, 2, 3, 4), "bias": (12,)}),
        (
            SeparableConv1D(5, 2, depth_multiplier=4),
            (1, 2, 3),
            {"depthwise_kernel": (2, 3, 4), "pointwise_kernel": (1, 12, 5), "bias": (5,)},
        ),
        (
            SeparableConv2D(5, 2),
            (1, 2, 2, 3),
            {"depthwise_kernel": (2, 2, 3, 1), "pointwise_kernel": (1, 1, 3, 5), "bias": (5,)},
        ),
    ],
)
def test_weights_as_keras_has_them(layer: Any, shape: tuple[int, ...], expected: dict[str, tuple[int, ...]]) -> None:
    layer.build(ag.TensorShape([None, *shape[1:]]))
    got = {v.name.removeprefix(f"{layer.name}/").removesuffix(":0"): tuple(v.shape.as_list()) for v in layer.weights}
    assert list(got.items()) == list(expected.items())
    assert layer.trainable_weights == layer.weights


def test_softmax_is_along_the_last_axis_of_the_output() -> None:
    layer, x = built(Conv2D, (1, 2, 3, 3), filters=2, kernel_size=1, activation="softmax", data_format="channels_first")
    np.testing.assert_allclose(layer(ag.constant(x)).numpy().sum(-1), np.ones((1, 2, 3)), rtol=1e-12)


def test_half_precision() -> None:
    layer = Conv2D(4, 3, dtype="float16")
    assert layer(ag.zeros([1, 5, 5, 2], "float16")).dtype == layer.kernel.dtype == ag.float16


def test_regularizers_constraints_and_initializers() -> None:
    layer = SeparableConv2D(
        1,
        1,
        depthwise_initializer="ones",
        pointwise_initializer=ag.zeros,
        bias_initializer="ones",
        depthwise_regularizer=ag.reduce_sum,
        bias_regularizer=lambda b: 5 * ag.reduce_sum(b),
        pointwise_constraint=ag.nn.relu,
    )
    layer(ag.zeros([1, 1, 1, 3]))
    assert [float(loss) for loss in layer.losses] == [3.0, 5.0]
    assert layer.pointwise_kernel.constraint is ag.nn.relu
    assert [float(ag.reduce_sum(v)) for v in layer.variables] == [3.0, 0.0, 1.0]
    layer.trainable = False
    assert layer.trainable_variables == []


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Conv2D(0, 3), "Conv2D: filters must be an integer of at least 1; got 0."),
        (
            lambda: Conv2D(2, (3, 3, 3)),
            "Conv2D: kernel_size must be an integer of at least 1, or 2 of them; got (3, 3, 3).",
        ),
        (lambda: Conv1D(2, 3, strides=0), "Conv1D: strides must be an integer of at least 1; got 0."),
        (lambda: Conv2D(2, 3, padding="causal"), "Conv2D: padding must be 'valid' or 'same'; got 'causal'."),
        (lambda: Conv1D(2, 3, padding="full"), "Conv1D: padding must be 'valid' or 'same' or 'causal'; got 'full'."),
        (
            lambda: Conv2D(2, 3, data_format="NHWC"),
            "Conv2D: data_format must be 'channels_last' or 'channels_first'; got 'NHWC'.",
        ),
        (
            lambda: SeparableConv2D(2, 3, depth_multiplier=0),
            "SeparableConv2D: depth_multiplier must be an integer of at least 1; got 0.",
        ),
    ],
)
def test_wrong_arguments(make: Callable[[], Any], text: str) -> None:
    with says(ValueError, text):
        make()


def test_strings_may_be_in_capitals() -> None:
    layer = Conv2D(1, 1, padding="SAME", data_format="Channels_First")
    assert (layer.padding, layer.data_format) == ("same", "channels_first")


def test_activity_regularizer() -> None:
    layer = Conv2D(1, 1, activity_regularizer=ag.reduce_sum, kernel_initializer="ones")
    layer(ag.ones([1, 2, 2, 1]))
    assert [float(loss) for loss in layer.losses] == [4.0]


@pytest.mark.parametrize(
    ("layer", "x", "kind", "text"),
    [
        (
            Conv2D(1, 1, name="c"),
            ag.zeros([1, 2, 3]),
            ValueError,
            "Conv2D layer 'c' takes inputs of shape (batch, height, width, channels) (channels_last); got shape "
            "(1, 2, 3).",
        ),
        (
            Conv1D(1, 1, name="c", data_format="channels_first"),
            ag.zeros([1, 2]),
            ValueError,
            "Conv1D layer 'c' takes inputs of shape (batch, channels, steps) (channels_first); got shape (1, 2).",
        ),
        (
            Conv2D(1, 1, name="c"),
            ag.zeros([1, 2, 3, 4], "int32"),
            TypeError,
            "Conv2D layer 'c' takes floats; got an input of dtype int32 and shape (1, 2, 3, 4). Cast it with "
            "tf.cast(x, tf.float32).",
        ),
    ],
)
def test_wrong_first_inputs(layer: Any, x: Any, kind: type[Exception], text: str) -> None:
    with says(kind, text):
        layer(x)
    assert not layer.built


@pytest.mark.parametrize("kind", [Conv2D, Conv2DTranspose, SeparableConv2D, DepthwiseConv2D])
def test_wrong_later_inputs(kind: Any) -> None:
    layer = kind(kernel_size=2, name="c", **({} if kind is DepthwiseConv2D else {"filters": 2}))
    layer(ag.zeros([1, 4, 4, 3]))
    with says(
        ValueError,
        f"{kind.__name__} layer 'c' takes inputs of shape (batch, height, width, 3) (channels_last); got shape "
        "(1, 4, 4, 2).",
    ):
        layer(ag.zeros([1, 4, 4, 2]))
    with says(
        ValueError,
        f"{kind.__name__} layer 'c' takes inputs of shape (batch, height, width, channels) (channels_last); got shape "
        "(4, 4, 3).",
    ):
        layer(ag.zeros([4, 4, 3]))
    with says(
        TypeError,
        f"{kind.__name__} layer 'c' takes floats; got an input of dtype int64 and shape (1, 4, 4, 3). Cast it with "
        "tf.cast(x, tf.float32).",
    ):
        layer(ag.zeros([1, 4, 4, 3], "int64"))
    with says(
        ag.errors.InvalidArgumentError,
        f"{kind.__name__} layer 'c' has a kernel of dtype float32; got an input of dtype float64 and shape "
        "(1, 4, 4, 3). Cast it with tf.cast(x, tf.float32).",
    ):
        layer(ag.zeros([1, 4, 4, 3], "float64"))


def test_unknown_channels() -> None:
    with says(ValueError, "Conv2D layer 'c' needs a known number of channels (channels_last); got shape (?, 4, 4, ?)."):
        Conv2D(1, 1, name="c").build(ag.TensorShape([None, 4, 4, None]))


@pytest.mark.parametrize(
    ("function", "shape", "arguments", "expected"),
    [
        (conv1d, (2, 9, 3), (4, 2), (2, 8, 4)),
        (conv2d, (2, 9, 9, 3), (4, 2, 2, "same"), (2, 5, 5, 4)),
        (conv3d, (1, 4, 4, 4, 2), (3, 2), (1, 3, 3, 3, 3)),
        (separable_conv1d, (2, 9, 3), (4, 2), (2, 8, 4)),
        (separable_conv2d, (2, 9, 9, 3), (4, 2), (2, 8, 8, 4)),
        (conv2d_transpose, (2, 3, 3, 2), (4, 2, 2), (2, 6, 6, 4)),
        (conv3d_transpose, (2, 3, 3, 3, 2), (4, 2, 2), (2, 6, 6, 6, 4)),
    ],
)
def test_functions(
    function: Callable[..., Any], shape: tuple[int, ...], arguments: tuple[Any, ...], expected: tuple[int, ...]
) -> None:
    assert function(ag.zeros(shape), *arguments, name="f", use_bias=False).shape == expected
    plain = function.__name__.replace("_", "")
    layer = next(name for name in vars(agog_layers) if name[0].isupper() and name.lower() == plain)
    with says(
        RuntimeError,
        f"{function.__name__}: variables are found again by name only while an EagerVariableStore is active "
        f"(tfe.EagerVariableStore().as_default()); or make a {layer} layer and call that twice.",
    ):
        function(ag.zeros(shape), *arguments, reuse=True)
    with pytest.raises(TypeError) as wrong:
        function(ag.zeros(shape), no_such=1)
    assert str(wrong.value).startswith(f"{function.__name__} has no argument 'no_such'; its arguments are inputs, ")
