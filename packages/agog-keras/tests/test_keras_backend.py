"""Functions of ``tf.keras.backend``, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_keras.backend import convolutions, defaults, normalization, sequences, shapes, values
from agog_keras.backend import tensors as backend
from agog_testing import says

rng = np.random.default_rng(7)


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    return [rng.normal(size=shape).astype(np.float32) for shape in shapes]


def convolved(x: Any, kernel: Any, stride: int = 1, dilation: int = 1) -> Any:
    """A convolution along one axis without padding, of (batch, steps, channels)."""
    width = kernel.shape[0]
    starts = range(0, x.shape[1] - (width - 1) * dilation, stride)
    return np.stack(
        [sum(x[:, s + n * dilation] @ kernel[n] for n in range(width)) for s in starts],
        axis=1,
    )


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 2)])
def test_conv1d(stride: int, dilation: int) -> None:
    x, kernel = arrays((2, 9, 3), (3, 3, 4))
    found = convolutions.conv1d(x, kernel, stride, dilation_rate=dilation).numpy()
    np.testing.assert_allclose(found, convolved(x, kernel, stride, dilation), rtol=1e-4, atol=1e-5)
    first = convolutions.conv1d(x.transpose(0, 2, 1), kernel, stride, "valid", "channels_first", dilation).numpy()
    np.testing.assert_allclose(first.transpose(0, 2, 1), found, rtol=1e-5, atol=1e-6)
    past = np.pad(x, [(0, 0), (2 * dilation, 0), (0, 0)])
    causal = convolutions.conv1d(x, kernel, stride, "causal", dilation_rate=dilation).numpy()
    np.testing.assert_allclose(causal, convolved(past, kernel, stride, dilation), rtol=1e-4, atol=1e-5)


def test_convolutions_of_images() -> None:
    x, kernel, point = arrays((2, 6, 5, 3), (1, 1, 3, 4), (1, 1, 6, 2))
    np.testing.assert_allclose(convolutions.conv2d(x, kernel).numpy(), x @ kernel[0, 0], rtol=1e-4, atol=1e-5)
    moved = convolutions.conv2d(x.transpose(0, 3, 1, 2), kernel, data_format="channels_first").numpy()
    np.testing.assert_allclose(moved.transpose(0, 2, 3, 1), x @ kernel[0, 0], rtol=1e-4, atol=1e-5)
    (volume, cube) = arrays((1, 3, 3, 3, 2), (1, 1, 1, 2, 4))
    np.testing.assert_allclose(convolutions.conv3d(volume, cube).numpy(), volume @ cube[0, 0, 0], rtol=1e-4, atol=1e-5)
    (deep,) = arrays((1, 1, 3, 2))
    each = (x[..., None] * deep[0, 0]).reshape(2, 6, 5, 6)
    np.testing.assert_allclose(convolutions.depthwise_conv2d(x, deep).numpy(), each, rtol=1e-5)
    mixed = convolutions.separable_conv2d(x, deep, point).numpy()
    np.testing.assert_allclose(mixed, each @ point[0, 0], rtol=1e-4, atol=1e-5)
    (back,) = arrays((1, 1, 4, 3))
    spread = convolutions.conv2d_transpose(x.transpose(0, 3, 1, 2), back, (2, 4, 6, 5), data_format="channels_first")
    np.testing.assert_allclose(spread.numpy().transpose(0, 2, 3, 1), x @ back[0, 0].T, rtol=1e-4, atol=1e-5)


def test_pools() -> None:
    (x,) = arrays((2, 4, 6, 3))
    parts = x.reshape(2, 2, 2, 3, 2, 3)
    largest = convolutions.pool2d(x, (2, 2), (2, 2)).numpy()
    np.testing.assert_allclose(largest, parts.max((2, 4)))
    means = convolutions.pool2d(x.transpose(0, 3, 1, 2), (2, 2), (2, 2), "same", "channels_first", "avg").numpy()
    np.testing.assert_allclose(means.transpose(0, 2, 3, 1), parts.mean((2, 4)), rtol=1e-5, atol=1e-6)
    (v,) = arrays((1, 2, 2, 2, 3))
    np.testing.assert_allclose(convolutions.pool3d(v, (2, 2, 2)).numpy()[:, 0, 0, 0], v.max((1, 2, 3)))


def test_shaping() -> None:
    x, y = arrays((4, 3, 2), (4, 2, 5))
    np.testing.assert_allclose(shapes.batch_dot(x, y).numpy(), x @ y, rtol=1e-5, atol=1e-6)
    crossed = shapes.batch_dot(x, y[:, :, :3], axes=(1, 2)).numpy()
    np.testing.assert_allclose(crossed, np.einsum("bij,bki->bjk", x, y[:, :, :3]), rtol=1e-5, atol=1e-6)
    a, b = arrays((4, 3), (4, 3))
    np.testing.assert_allclose(shapes.batch_dot(a, b, 1).numpy(), (a * b).sum(1, keepdims=True), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(shapes.repeat(a, 2).numpy(), np.stack([a, a], 1))
    image, bias = arrays((1, 3, 2, 4), (3,))
    added = shapes.bias_add(image, bias, "channels_first").numpy()
    np.testing.assert_allclose(added, image + bias[:, None, None], rtol=1e-6)
    larger = shapes.resize_images(image, 2, 3, "channels_first").numpy()
    np.testing.assert_array_equal(larger, image.repeat(2, 2).repeat(3, 3))
    assert shapes.resize_images(image, 2, 2, interpolation="bilinear").shape.as_list() == [1, 6, 4, 4]
    (volume,) = arrays((1, 2, 2, 2, 3))
    np.testing.assert_array_equal(shapes.resize_volumes(volume, 1, 2, 3).numpy(), volume.repeat(2, 2).repeat(3, 3))
    np.testing.assert_array_equal(shapes.temporal_padding(x, (2, 1)).numpy(), np.pad(x, [(0, 0), (2, 1), (0, 0)]))
    around = ((1, 0), (2, 3))
    np.testing.assert_array_equal(
        shapes.spatial_2d_padding(image, around, "channels_first").numpy(), np.pad(image, [(0, 0), (0, 0), *around])
    )
    np.testing.assert_array_equal(
        shapes.spatial_3d_padding(volume).numpy(), np.pad(volume, [(0, 0), *[(1, 1)] * 3, (0, 0)])
    )


def test_normalizing() -> None:
    x, gamma, beta = arrays((4, 3, 5), (3,), (3,))
    mean, var = x.mean((0, 2)), x.var((0, 2))
    expected = ((x.transpose(0, 2, 1) - mean) / np.sqrt(var + 1e-3) * gamma + beta).transpose(0, 2, 1)
    found = normalization.batch_normalization(x, mean, var, beta, gamma, axis=1).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    whole, m, v = normalization.normalize_batch_in_training(x, gamma, beta, (0, 2))
    np.testing.assert_allclose(whole.numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(m.numpy(), mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(v.numpy(), var, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("go_backwards", [False, True])
def test_recurrences(go_backwards: bool) -> None:
    x, first = arrays((2, 4, 3), (2, 3))
    mask = np.array([[1, 1, 0, 1], [0, 1, 1, 0]])
    last, outputs, states = sequences.rnn(
        lambda step, states: (states[0] * 0.5 + step + states[1], [states[0] * 0.5 + step]),
        x,
        [first],
        go_backwards,
        mask,
        constants=[10.0],
    )
    state, output, expected = first, np.zeros((2, 3), np.float32), []
    for time in range(3, -1, -1) if go_backwards else range(4):
        counts = mask[:, time, None] == 1
        output = np.where(counts, state * 0.5 + x[:, time] + 10.0, output)
        state = np.where(counts, state * 0.5 + x[:, time], state)
        expected.append(output)
    np.testing.assert_allclose(outputs.numpy(), np.stack(expected, 1), rtol=1e-5)
    np.testing.assert_allclose(last.numpy(), expected[-1], rtol=1e-5)
    np.testing.assert_allclose(states[0].numpy(), state, rtol=1e-5, atol=1e-6)


def test_temporal_classification() -> None:
    """Two steps spell the one label by itself twice, or with a blank before or after it."""
    p = np.array([[[0.6, 0.4], [0.3, 0.7]]], np.float32)
    cost = sequences.ctc_batch_cost([[0]], p, [[2]], [[1]]).numpy()
    np.testing.assert_allclose(cost, [[-np.log(0.6 * 0.3 + 0.6 * 0.7 + 0.4 * 0.3)]], rtol=1e-4)
    answers, _ = sequences.ctc_decode(p, [2], greedy=False, beam_width=4)
    assert answers[0].numpy().tolist() == [[0]]


def test_renamed() -> None:
    (x,) = arrays((3, 4))
    assert defaults.argmax(x).numpy().tolist() == x.argmax(-1).tolist()
    assert defaults.argmin(x, 0).numpy().tolist() == x.argmin(0).tolist()
    np.testing.assert_array_equal(defaults.clip(x, None, 0.5).numpy(), np.minimum(x, 0.5))
    np.testing.assert_array_equal(defaults.clip(x, 0.25, -1).numpy(), np.full((3, 4), 0.25, np.float32))
    np.testing.assert_array_equal(defaults.concatenate([x, x]).numpy(), np.concatenate([x, x], -1))
    np.testing.assert_array_equal(defaults.reverse(x, 1).numpy(), x[:, ::-1])
    np.testing.assert_array_equal(defaults.tile(x[0], 2).numpy(), np.tile(x[0], 2))
    np.testing.assert_array_equal(defaults.permute_dimensions(x, pattern=(1, 0)).numpy(), x.T)
    np.testing.assert_allclose(defaults.pow(x, a=2).numpy(), x**2, rtol=1e-6)
    assert defaults.expand_dims(x).shape.as_list() == [3, 4, 1]
    assert defaults.one_hot([1], num_classes=2).numpy().tolist() == [[0.0, 1.0]]
    assert float(defaults.mean(x > 0)) == pytest.approx((x > 0).mean())
    assert defaults.constant([1, 2]).dtype.name == "float32"
    assert defaults.zeros((2,)).assign_add(defaults.ones((2,))).numpy().tolist() == [1.0, 1.0]
    condition = ag.constant([True, False, True])
    chosen = defaults.switch(condition, x, lambda: -x).numpy()
    np.testing.assert_array_equal(chosen, np.where([[True], [False], [True]], x, -x))
    assert defaults.switch(ag.constant(False), 1.0, lambda: 2.0).numpy() == 2.0


def test_values(capsys: pytest.CaptureFixture[str]) -> None:
    (x,) = arrays((3, 4))
    floor = np.where(x > 0.5, x, 0.25 * (x - 0.5))
    np.testing.assert_allclose(values.relu(x, 0.25, 1.0, 0.5).numpy(), np.minimum(floor, 1.0), rtol=1e-5, atol=1e-6)
    sparse = ag.SparseTensor([[1]], [5.0], [3])
    assert (values.is_sparse(sparse), values.eval(sparse).tolist()) == (True, [0.0, 5.0, 0.0])
    assert float(values.moving_average_update(ag.Variable(1.0), 3.0, 0.75)) == 1.5
    values.reset_uids()
    assert [values.get_uid("a"), values.get_uid("a"), values.get_uid("b")] == [1, 2, 1]
    values.print_tensor([1, 2], "x: ")
    assert capsys.readouterr().out == "x: [1 2]\n"
    ag.set_random_seed(3)
    assert values.random_binomial([2000], 0.25).numpy().mean() == pytest.approx(0.25, abs=0.05)
    uniform, normal = values.random_uniform_variable((500,), 1, 2), values.random_normal_variable((500,), 3, 0.1)
    assert (uniform.numpy().min() >= 1, uniform.numpy().max() < 2) == (True, True)
    assert normal.numpy().mean() == pytest.approx(3.0, abs=0.05)
    assert set(values.dropout(ag.ones([50]), 0.5).numpy().tolist()) == {0.0, 2.0}


def test_variables_of_sparse_matrices() -> None:
    class Matrix:
        """Looks like one of SciPy's."""

        row, col, data, shape = [0, 1], [1, 0], np.array([3.0, 4.0]), (2, 2)

        def tocoo(self) -> Matrix:
            return self

    assert values.eval(backend.variable(Matrix())).tolist() == [[0.0, 3.0], [4.0, 0.0]]


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (
            lambda: convolutions.conv2d(ag.ones([1, 3, 3, 1]), ag.ones([1, 1, 1, 1]), padding="full"),
            "conv2d: padding must be 'same' or 'valid'; got 'full'.",
        ),
        (
            lambda: shapes.resize_images(ag.ones([1, 3, 3, 1]), 2, 2, "unknown"),
            "resize_images: data_format must be 'channels_last' or 'channels_first'; got 'unknown'.",
        ),
        (
            lambda: shapes.resize_images(ag.ones([1, 3, 3, 1]), 2, 2, interpolation="cubic"),
            "resize_images: interpolation must be 'nearest' or 'bilinear'; got 'cubic'.",
        ),
        (
            lambda: convolutions.separable_conv2d(
                ag.ones([1, 3, 3, 1]), ag.ones([1, 1, 1, 1]), ag.ones([1, 1, 1, 1]), (2, 2, 2)
            ),
            "separable_conv2d: strides must be two integers; got (2, 2, 2).",
        ),
        (
            lambda: convolutions.pool2d(ag.ones([1, 3, 3, 1]), (2, 2), pool_mode="sum"),
            "pool2d: pool_mode must be 'max' or 'avg'; got 'sum'.",
        ),
        (
            lambda: shapes.batch_dot(ag.ones([3]), ag.ones([3, 1])),
            "batch_dot: x and y must have at least 2 axes, the first of which is the batch; got shapes (3,) and "
            "(3, 1).",
        ),
        (
            lambda: shapes.bias_add(ag.ones([3]), ag.ones([3])),
            "bias_add: x must have 2 axes or more, and bias 1 or one less than x; got shapes (3,) and (3,).",
        ),
        (lambda: shapes.repeat(ag.ones([3]), 2), "repeat: x must have the shape (batch, features); got (3,)."),
        (
            lambda: sequences.rnn(lambda x, s: (x, s), ag.ones([3, 2]), []),
            "rnn: inputs must have the shape (batch, time, ...), with a step at least; got (3, 2).",
        ),
        (
            lambda: defaults.switch(ag.ones([2, 1]), ag.ones([2]), ag.ones([2])),
            "switch: the condition must not have more axes than the values; got shapes (2, 1) and (2,).",
        ),
    ],
)
def test_errors(use: Callable[[], Any], text: str) -> None:
    with says(ValueError, text):
        use()
