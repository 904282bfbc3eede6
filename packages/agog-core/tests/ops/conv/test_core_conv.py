"""Convolutions: what TensorFlow's arguments mean, against loops in NumPy, and the texts of errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.ops.conv import convolutions as conv
from agog_core.ops.conv import depthwise
from agog_core.ops.conv import transposed as deconvolution
from agog_testing import says

Array = np.ndarray[Any, Any]
SEED = 20


def random(*shape: int) -> Array:
    return np.random.default_rng(SEED).uniform(-1, 1, shape)


def naive(x: Array, f: Array, stride: int, pads: tuple[int, int, int, int], rate: int = 1) -> Array:
    """Convolution over height and width, channels last; ``pads`` are top, bottom, left, right."""
    top, bottom, left, right = pads
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    height, width = f.shape[:2]
    rows = (x.shape[1] - (height - 1) * rate - 1) // stride + 1
    columns = (x.shape[2] - (width - 1) * rate - 1) // stride + 1
    out = np.zeros((len(x), rows, columns, f.shape[3]))
    for n, r, c, o in np.ndindex(*out.shape):
        for i, j, k in np.ndindex(*f.shape[:3]):
            out[n, r, c, o] += x[n, r * stride + i * rate, c * stride + j * rate, k] * f[i, j, k, o]
    return out


def same(out: ag.Tensor, expected: Array) -> None:
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12, atol=1e-12, err_msg=f"seed {SEED}")


def first(x: Array) -> Array:
    """Channels first."""
    return np.moveaxis(x, -1, 1)


@pytest.mark.parametrize(
    ("size", "window", "stride", "rate", "pads"),
    [
        (5, 3, 1, 1, (1, 1, 1, 1)),
        (5, 2, 1, 1, (0, 1, 0, 1)),
        (5, 3, 2, 1, (1, 1, 1, 1)),
        (6, 3, 2, 1, (0, 1, 0, 1)),
        (7, 4, 3, 1, (1, 2, 1, 2)),
        (4, 1, 2, 1, (0, 0, 0, 0)),
        (6, 2, 1, 3, (1, 2, 1, 2)),
    ],
)
@pytest.mark.parametrize("channels_first", [False, True])
def test_same_padding_pads_more_at_the_end(
    size: int, window: int, stride: int, rate: int, pads: tuple[int, int, int, int], channels_first: bool
) -> None:
    x, f = random(2, size, size, 3), random(window, window, 3, 2)
    expected = naive(x, f, stride, pads, rate)
    assert expected.shape[1] == -(-size // stride)
    if channels_first:
        x, expected = first(x), first(expected)
        strides, rates, data_format = [1, 1, stride, stride], [1, 1, rate, rate], "NCHW"
    else:
        strides, rates, data_format = [1, stride, stride, 1], [1, rate, rate, 1], "NHWC"
    same(conv.conv2d(x, f, strides, "SAME", data_format=data_format, dilations=rates), expected)


def test_valid_and_explicit_padding() -> None:
    x, f = random(1, 5, 6, 2), random(3, 2, 2, 4)
    same(conv.conv2d(x, f, [1, 2, 2, 1], "VALID"), naive(x, f, 2, (0, 0, 0, 0)))
    pairs = [[0, 0], [2, 1], [0, 3], [0, 0]]
    same(conv.conv2d(x, f, 1, pairs), naive(x, f, 1, (2, 1, 0, 3)))
    pairs = [[0, 0], [0, 0], [2, 1], [0, 3]]
    same(conv.conv2d(first(x), f, 1, pairs, data_format="NCHW"), first(naive(x, f, 1, (2, 1, 0, 3))))


def test_other_numbers_of_axes() -> None:
    x, f = random(2, 7, 3), random(3, 3, 2)
    expected = naive(x[:, None], f[None], 1, (0, 0, 1, 1))[:, 0]
    same(conv.conv1d(x, f, 1, "SAME"), expected)
    same(conv.conv1d(first(x), f, 1, "SAME", data_format="NCW"), first(expected))
    same(conv.convolution(x, f, "SAME"), expected)
    same(conv.convolution(first(x), f, "SAME", data_format="NCW"), first(expected))
    same(conv.conv3d(x[:, None, None], f[None, None], [1] * 5, "SAME")[:, 0, 0], expected)
    out = conv.conv3d(first(x[:, None, None]), f[None, None], [1] * 5, "SAME", data_format="NCDHW")
    same(out[:, :, 0, 0], first(expected))
    x, f = random(1, 6, 5, 2), random(2, 2, 2, 3)
    same(conv.convolution(x, f, "VALID", strides=[2, 2]), naive(x, f, 2, (0, 0, 0, 0)))
    for out in (conv.convolution(x, f, "SAME", dilation_rate=[3, 3]), conv.atrous_conv2d(x, f, 3, "SAME")):
        same(out, naive(x, f, 1, (1, 2, 1, 2), 3))


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_depthwise_orders_outputs_by_channel(data_format: str) -> None:
    x, f, mixing = random(2, 5, 4, 3), random(2, 3, 3, 2), random(1, 1, 6, 4)
    parts = [naive(x[..., k : k + 1], f[:, :, k : k + 1], 1, (0, 1, 1, 1)) for k in range(3)]
    expected = np.concatenate(parts, -1)
    mixed = expected @ mixing[0, 0]
    if data_format == "NCHW":
        x, expected, mixed = map(first, (x, expected, mixed))
    ones = [1, 1, 1, 1]
    same(depthwise.depthwise_conv2d(x, f, ones, "SAME", data_format=data_format), expected)
    same(depthwise.depthwise_conv2d_native(x, f, ones, "SAME", data_format=data_format), expected)
    same(depthwise.separable_conv2d(x, f, mixing, ones, "SAME", data_format=data_format), mixed)


def test_depthwise_with_holes() -> None:
    x, f = random(1, 6, 6, 1), random(2, 2, 1, 2)
    out = depthwise.depthwise_conv2d(x, f, [1, 1, 1, 1], "VALID", rate=[3, 3])
    same(out, naive(x, f, 1, (0, 0, 0, 0), 3))


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_named_gradients_are_those_of_the_tape(data_format: str) -> None:
    x, f = random(2, 3, 5, 3), random(2, 2, 3, 3)
    strides = [1, 2, 2, 1] if data_format == "NHWC" else [1, 1, 2, 2]
    x = x if data_format == "NHWC" else first(x)
    for forward, input_grad, filter_grad in (
        (conv.conv2d, deconvolution.conv2d_backprop_input, deconvolution.conv2d_backprop_filter),
        (
            depthwise.depthwise_conv2d_native,
            depthwise.depthwise_conv2d_native_backprop_input,
            depthwise.depthwise_conv2d_native_backprop_filter,
        ),
    ):
        a, b = ag.constant(x), ag.constant(f)
        with ag.GradientTape() as tape:
            tape.watch([a, b])
            out = forward(a, b, strides, "SAME", data_format=data_format)
        g = random(*out.shape)
        dx, df = tape.gradient(out, [a, b], [ag.constant(g)])
        same(input_grad(x.shape, f, g, strides, "SAME", data_format=data_format), dx.numpy())
        same(filter_grad(x, f.shape, g, strides, "SAME", data_format=data_format), df.numpy())
        if input_grad is deconvolution.conv2d_backprop_input:
            out = deconvolution.conv2d_transpose(g, f, x.shape, strides, "SAME", data_format)
            same(out, dx.numpy())


def test_other_transposes() -> None:
    x, f = random(1, 2, 2, 1), random(2, 2, 3, 1)
    expected = np.zeros((1, 4, 4, 3))
    for i, j, r, c in np.ndindex(2, 2, 2, 2):
        expected[0, r * 2 + i, c * 2 + j] = f[i, j, :, 0] * x[0, r, c, 0]
    same(deconvolution.conv2d_transpose(x, f, [1, 4, 4, 3], [1, 2, 2, 1]), expected)
    out = deconvolution.conv3d_transpose(x[:, None], f[None], [1, 1, 4, 4, 3], [1, 1, 2, 2, 1])
    same(out, expected[:, None])
    out = deconvolution.atrous_conv2d_transpose(x[:, :1, :1], f, [1, 4, 4, 3], 3, "VALID")
    expected = np.zeros((1, 4, 4, 3))
    for i, j in np.ndindex(2, 2):
        expected[0, 3 * i, 3 * j] = f[i, j, :, 0] * x[0, 0, 0, 0]
    same(out, expected)
    volume, g = random(1, 2, 3, 3, 1), random(1, 1, 3, 3, 1)
    with ag.GradientTape() as tape:
        weights = ag.constant(random(2, 1, 1, 1, 1))
        tape.watch(weights)
        out = conv.conv3d(volume, weights, [1] * 5, "VALID")
    expected_grad = tape.gradient(out, weights, ag.constant(g)).numpy()
    same(deconvolution.conv3d_backprop_filter_v2(volume, (2, 1, 1, 1, 1), g, [1] * 5, "VALID"), expected_grad)


def test_arrays_take_the_dtype_of_the_tensor() -> None:
    x, f = ag.constant(random(1, 3, 3, 1), ag.float32), random(2, 2, 1, 1)
    assert conv.conv2d(x, f, 1, "SAME").dtype == ag.float32
    assert deconvolution.conv2d_transpose(x, f, [1, 3, 3, 1], [1, 1, 1, 1]).dtype == ag.float32
    assert depthwise.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME").dtype == ag.float32


IMAGE, FILTER = np.ones((1, 4, 4, 3), np.float32), np.ones((2, 2, 3, 5), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: conv.conv2d(IMAGE, np.ones((2, 2, 4, 5), np.float32), 1, "SAME"),
            InvalidArgumentError,
            "conv2d: input and filter must have the same depth: the input has 3 channels (shape (1, 4, 4, 3), NHWC), "
            "and the filter of shape (2, 2, 4, 5) takes 4.",
        ),
        (
            lambda: conv.conv2d(ag.constant(IMAGE), ag.constant(FILTER, ag.float64), 1, "SAME"),
            InvalidArgumentError,
            "conv2d: input has dtype float32 and filter has dtype float64 (shapes (1, 4, 4, 3) and (2, 2, 3, 5)), but "
            "they must be of one dtype; cast one of them, such as tf.cast(filter, tf.float32).",
        ),
        (
            lambda: conv.conv2d(IMAGE, FILTER, 1, "same"),
            InvalidArgumentError,
            "conv2d: padding must be 'SAME' or 'VALID'; got 'same'.",
        ),
        (
            lambda: conv.conv2d(IMAGE, FILTER, 1, [[0, 0], [1, 1], [0, 0], [1, 1]]),
            InvalidArgumentError,
            "conv2d: explicit padding must be 4 pairs of numbers that are not negative, (0, 0) for batch and channels; "
            "got [[0, 0], [1, 1], [0, 0], [1, 1]].",
        ),
        (
            lambda: conv.conv2d(IMAGE, FILTER, 1, "SAME", data_format="HWC"),
            InvalidArgumentError,
            "conv2d: data_format must be 'NHWC' or 'NCHW'; got 'HWC'.",
        ),
        (
            lambda: conv.conv2d(IMAGE[0], FILTER, 1, "SAME"),
            InvalidArgumentError,
            "conv2d: input must be of rank 4 (N, H, W, C); got shape (4, 4, 3).",
        ),
        (
            lambda: conv.conv2d(IMAGE, FILTER, [1, 1, 1, 2], "SAME"),
            InvalidArgumentError,
            "conv2d: strides must be 1 for batch and channels; got [1, 1, 1, 2].",
        ),
        (
            lambda: conv.conv2d(IMAGE, FILTER, [1, 2, 1], "SAME"),
            InvalidArgumentError,
            "conv2d: strides must be a positive integer, 2 of them, or 4 of them with those of batch and channels; got "
            "[1, 2, 1].",
        ),
        (
            lambda: conv.conv1d(IMAGE[0], FILTER[0], 1, "SAME", data_format="CWN"),
            ValueError,
            "conv1d: data_format must be 'NWC' or 'NCW' or 'NHWC' or 'NCHW'; got 'CWN'.",
        ),
        (
            lambda: conv.convolution(IMAGE, FILTER[0], "SAME"),
            ValueError,
            "convolution: input and filter must be of one rank, 3 to 5; got shapes (1, 4, 4, 3) and (2, 3, 5).",
        ),
        (
            lambda: conv.convolution(IMAGE, FILTER, "SAME", [2, 2], [2, 2]),
            ValueError,
            "convolution: strides > 1 not supported in conjunction with dilation_rate > 1; got strides [2, 2] and "
            "dilation_rate [2, 2].",
        ),
        (
            lambda: conv.convolution(IMAGE, FILTER, "SAME", [2]),
            ValueError,
            "convolution: strides must be 2 positive integers; got [2].",
        ),
        (
            lambda: conv.atrous_conv2d(IMAGE, FILTER, 0, "SAME"),
            ValueError,
            "atrous_conv2d: rate must be a positive integer; got 0.",
        ),
        (
            lambda: depthwise.depthwise_conv2d_native(IMAGE, FILTER[:, :, :2], [1, 1, 1, 1], "SAME"),
            InvalidArgumentError,
            "depthwise_conv2d_native: filter must be of shape (window height, window width, channels, multiplier), "
            "with the input's 3 channels; got shape (2, 2, 2, 5).",
        ),
        (
            lambda: depthwise.separable_conv2d(IMAGE, FILTER, FILTER, [1, 1, 1, 1], "SAME"),
            InvalidArgumentError,
            "separable_conv2d: pointwise_filter must be of shape (1, 1, channels * multiplier, outputs); got shape "
            "(2, 2, 3, 5).",
        ),
        (
            lambda: deconvolution.conv2d_transpose(IMAGE, FILTER, [1, 4, 4, 3], [1, 1, 1, 1]),
            ValueError,
            "conv2d_transpose: a filter of shape (2, 2, 3, 5) (window, outputs, channels) takes 5 channels and gives "
            "3; value has shape (1, 4, 4, 3) and output_shape is (1, 4, 4, 3) (NHWC).",
        ),
        (
            lambda: deconvolution.conv2d_transpose(IMAGE, FILTER, [1, 4, 4, 3], [1, 1, 1, 1], "FULL"),
            ValueError,
            "conv2d_transpose: padding must be 'VALID' or 'SAME'; got 'FULL'.",
        ),
        (
            lambda: deconvolution.atrous_conv2d_transpose(IMAGE, FILTER, [1, 4, 4, 3], 0, "SAME"),
            ValueError,
            "atrous_conv2d_transpose: rate must be a positive integer; got 0.",
        ),
        (
            lambda: deconvolution.conv2d_backprop_input([1, 4, 4], FILTER, IMAGE, 1, "SAME"),
            InvalidArgumentError,
            "conv2d_backprop_input: sizes, filter and output must have 4 axes; got (1, 4, 4), and shapes (2, 2, 3, 5) "
            "and (1, 4, 4, 3).",
        ),
        (
            lambda: deconvolution.conv2d_backprop_filter(IMAGE, [2, 2], IMAGE, 1, "SAME"),
            InvalidArgumentError,
            "conv2d_backprop_filter: sizes, input and output must have 4 axes; got (2, 2), and shapes (1, 4, 4, 3) and "
            "(1, 4, 4, 3).",
        ),
    ],
)
def test_errors(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with says(error, text):
        call()
