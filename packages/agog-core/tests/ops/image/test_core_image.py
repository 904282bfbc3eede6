"""tf.image: what TensorFlow 1.12's functions give, against NumPy, `colorsys` and loops; and the texts of errors."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.ops.conv import patches
from agog_core.ops.image import boxes, color, intensity, resizing
from agog_core.ops.image import geometry as image
from agog_core.ops.image import quality as comparison
from agog_testing import says

Array = np.ndarray[Any, Any]
SEED = 22


def random(*shape: int) -> Array:
    return np.random.default_rng(SEED).uniform(0, 1, shape)


def pixels(*shape: int) -> Array:
    return np.random.default_rng(SEED).integers(0, 256, shape).astype(np.uint8)


def same(out: ag.Tensor, expected: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(out.numpy(), expected, rtol=tolerance, atol=tolerance, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("shape", [(3, 4, 2), (2, 3, 4, 2)])
def test_moves(shape: tuple[int, ...]) -> None:
    x = random(*shape)
    axes = (-3, -2)
    same(image.flip_left_right(x), np.flip(x, -2))
    same(image.flip_up_down(x), np.flip(x, -3))
    same(image.transpose_image(x), np.swapaxes(x, *axes))
    for turns in range(-1, 6):
        same(image.rot90(x, turns), np.rot90(x, turns, axes))


def test_random_flips_choose_for_each_image() -> None:
    ag.set_random_seed(SEED)
    x = random(64, 2, 3, 1)
    for function, axis in ((image.random_flip_left_right, 2), (image.random_flip_up_down, 1)):
        out = function(x).numpy()
        flipped = [bool(np.array_equal(a, np.flip(b, axis - 1))) for a, b in zip(out, x, strict=True)]
        kept = [bool(np.array_equal(a, b)) for a, b in zip(out, x, strict=True)]
        assert all(a != b for a, b in zip(flipped, kept, strict=True)), f"seed {SEED}"
        assert 16 < sum(flipped) < 48, f"seed {SEED}"
        single = {function(x[0]).numpy().tobytes() for _ in range(20)}
        assert single == {x[0].tobytes(), np.flip(x[0], axis - 1).tobytes()}, f"seed {SEED}"


def test_crops_and_borders() -> None:
    x = random(2, 5, 6, 3)
    same(image.crop_to_bounding_box(x, 1, 2, 3, 4), x[:, 1:4, 2:6])
    same(image.pad_to_bounding_box(x[0], 1, 2, 7, 9), np.pad(x[0], ((1, 1), (2, 1), (0, 0))))
    same(image.central_crop(x, 0.5), x[:, 1:4, 1:5])
    same(image.central_crop(x, 1.0), x)
    same(image.resize_image_with_crop_or_pad(x, 2, 3), x[:, 1:3, 1:4])
    same(image.resize_image_with_crop_or_pad(x, 8, 6), np.pad(x, ((0, 0), (1, 2), (0, 0), (0, 0))))
    same(image.resize_image_with_crop_or_pad(x[0], 4, 9), np.pad(x[0, :4], ((0, 0), (1, 2), (0, 0))))


def test_fitting_keeps_the_proportions() -> None:
    x = random(2, 4, 8, 1).astype(np.float32)
    out = image.resize_image_with_pad(x, 7, 4)
    same(out, np.pad(resizing.resize_bilinear(x, [2, 4]).numpy(), ((0, 0), (2, 3), (0, 0), (0, 0))))
    out = image.resize_image_with_pad(x[0], 8, 20, resizing.ResizeMethod.NEAREST_NEIGHBOR)
    same(out, np.pad(x[0].repeat(2, 0).repeat(2, 1), ((0, 0), (2, 2), (0, 0))))
    assert image.resize_image_with_pad(np.ones((1, 1, 1)), 93, 93).numpy().all()  # 1 / (1 / 93) is 92.99999999999999


def test_crops_are_differentiable() -> None:
    x = ag.constant(random(4, 4, 1))
    with ag.GradientTape() as tape:
        tape.watch(x)
        out = image.resize_image_with_crop_or_pad(image.rot90(x), 2, 6)
    expected = np.zeros((4, 4, 1))
    expected[:, 1:3] = 1
    same(tape.gradient(out, x), expected)


def test_conversions_of_dtypes() -> None:
    convert = intensity.convert_image_dtype
    x = np.array([0, 1, 128, 255], np.uint8)
    same(convert(x, ag.float32), x / 255, 1e-6)
    assert convert(convert(x, ag.float32), ag.uint8).numpy().tolist() == x.tolist()
    assert convert(x, ag.int16).numpy().tolist() == [0, 128, 128 * 128, 255 * 128]
    assert convert(np.array([0, 128, 32767], np.int16), ag.uint8).numpy().tolist() == [0, 1, 255]
    assert convert([-1.0, 0.5, 2.0], ag.uint8, saturate=True).numpy().tolist() == [0, 127, 255]
    assert convert(np.array([0.25]), ag.float32).dtype == ag.float32


def test_brightness_contrast_gamma() -> None:
    x = random(2, 3, 4, 2)
    same(intensity.adjust_brightness(x, 0.25), x + 0.25)
    mean = x.mean((1, 2), keepdims=True)
    same(intensity.adjust_contrast(x, 1.5), (x - mean) * 1.5 + mean)
    same(intensity.adjust_gamma(x, 2.0, 3.0), 3 * x**2)
    bytes_ = pixels(4, 4, 3)
    expected = np.clip(bytes_ / 255 + 0.2, 0, 1) * 255.5
    np.testing.assert_allclose(intensity.adjust_brightness(bytes_, 0.2).numpy(), np.floor(expected), atol=1)
    out = intensity.adjust_gamma(bytes_, 2)
    assert out.dtype == ag.float32
    same(out, (bytes_ / 255.0) ** 2 * 255, 1e-5)


def test_random_changes_stay_in_their_range() -> None:
    ag.set_random_seed(SEED)
    x = np.full((2, 2, 1), 0.5)
    x[0] = 0.25
    brightness = [float(intensity.random_brightness(x, 0.3).numpy()[1, 1, 0]) - 0.5 for _ in range(40)]
    assert -0.3 <= min(brightness) < -0.1 < 0.1 < max(brightness) < 0.3, f"seed {SEED}"
    contrast = [np.ptp(intensity.random_contrast(x, 0.5, 2.0).numpy()) / 0.25 for _ in range(40)]
    assert 0.5 <= min(contrast) < 1 < 1.5 < max(contrast) < 2, f"seed {SEED}"
    rgb = random(1, 1, 3)
    _, saturation, value = colorsys.rgb_to_hsv(*rgb[0, 0])
    for _ in range(5):
        turned = colorsys.rgb_to_hsv(*color.random_hue(rgb, 0.5).numpy()[0, 0])
        assert turned[1:] == pytest.approx((saturation, value)), f"seed {SEED}"
        scaled = colorsys.rgb_to_hsv(*color.random_saturation(rgb, 0.5, 1.0).numpy()[0, 0])
        assert 0.5 * saturation - 1e-6 <= scaled[1] <= saturation + 1e-6, f"seed {SEED}"


def test_hue_saturation_value() -> None:
    x = random(5, 6, 3)
    x[0] = [[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    expected = np.array([[colorsys.rgb_to_hsv(*pixel) for pixel in row] for row in x])
    same(color.rgb_to_hsv(x), expected)
    same(color.hsv_to_rgb(expected), x)
    turned = [[colorsys.hsv_to_rgb((h + 0.3) % 1, s, v) for h, s, v in row] for row in expected]
    same(color.adjust_hue(x, 0.3), turned)
    scaled = [[colorsys.hsv_to_rgb(h, min(1, s * 1.5), v) for h, s, v in row] for row in expected]
    same(color.adjust_saturation(x, 1.5), scaled)
    assert color.adjust_hue(pixels(2, 2, 3), 0.1).dtype == ag.uint8


def test_gradient_of_hue_has_no_nan_for_gray() -> None:
    x = ag.constant([[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [0.2, 0.4, 0.3]])
    with ag.GradientTape() as tape:
        tape.watch(x)
        out = color.rgb_to_hsv(x)
    assert np.isfinite(tape.gradient(out, x).numpy()).all()


def test_gray() -> None:
    x = random(3, 2, 3)
    same(color.rgb_to_grayscale(x), (x @ [0.2989, 0.5870, 0.1140])[..., None])
    bytes_ = pixels(4, 4, 3)
    out = color.rgb_to_grayscale(bytes_)
    assert out.dtype == ag.uint8
    np.testing.assert_allclose(out.numpy(), (bytes_ @ [0.2989, 0.5870, 0.1140])[..., None], atol=1)
    same(color.grayscale_to_rgb(x[..., :1]), np.repeat(x[..., :1], 3, -1))


def test_standardization() -> None:
    x = random(2, 4, 5, 3)
    centered = x - x.mean((1, 2, 3), keepdims=True)
    same(intensity.per_image_standardization(x), centered / x.std((1, 2, 3), keepdims=True), 1e-5)
    uniform = ag.constant(np.full((3, 3, 1), 0.5, np.float32))
    with ag.GradientTape() as tape:
        tape.watch(uniform)
        out = intensity.per_image_standardization(uniform)
    assert out.numpy().tolist() == np.zeros((3, 3, 1)).tolist()
    assert np.isfinite(tape.gradient(out, uniform).numpy()).all()


def test_differences() -> None:
    x = random(2, 4, 5, 3)
    down, across = np.diff(x, axis=1), np.diff(x, axis=2)
    variation = np.abs(down).sum((1, 2, 3)) + np.abs(across).sum((1, 2, 3))
    same(comparison.total_variation(x), variation)
    same(comparison.total_variation(x[0]), variation[0])
    dy, dx = comparison.image_gradients(x)
    same(dy, np.pad(down, ((0, 0), (0, 1), (0, 0), (0, 0))))
    same(dx, np.pad(across, ((0, 0), (0, 0), (0, 1), (0, 0))))
    bordered = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="reflect")
    kernel = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    expected = np.zeros((*x.shape, 2))
    for i, j in np.ndindex(3, 3):
        part = bordered[:, i : i + 4, j : j + 5]
        expected += np.stack([kernel[i, j] * part, kernel[j, i] * part], -1)
    same(comparison.sobel_edges(x), expected)


def test_quality() -> None:
    x, y = pixels(2, 12, 13, 3), np.random.default_rng(SEED + 1).integers(0, 256, (2, 12, 13, 3)).astype(np.uint8)
    a, b = x.astype(np.float64), y.astype(np.float64)
    expected = 10 * np.log10(255**2 / ((a - b) ** 2).mean((1, 2, 3)))
    same(comparison.psnr(x, y, 255), expected, 1e-5)
    assert comparison.psnr(x[0], x[0], 255).numpy() == np.inf
    whole, _ = similarity(a, b)
    # The small differences of large squares are taken in float32.
    same(comparison.ssim(x, y, 255), whole.mean(1), 1e-4)
    same(comparison.ssim(x[0], x[0], 255), 1.0, 1e-6)


def similarity(a: Array, b: Array) -> tuple[Array, Array]:
    """Structural similarity of bytes in float64, and its part without the luminance, for each image and channel."""
    row = np.exp(-(np.arange(-5, 6) ** 2) / 4.5)
    window = np.outer(row, row) / row.sum() ** 2
    p, q = (np.lib.stride_tricks.sliding_window_view(part, (11, 11), (1, 2)) for part in (a, b))
    mean_p, mean_q, square_p, square_q, product = (
        (part * window).sum((-2, -1)) for part in (p, q, p * p, q * q, p * q)
    )
    c1, c2 = 2.55**2, 7.65**2
    luminance = (2 * mean_p * mean_q + c1) / (mean_p**2 + mean_q**2 + c1)
    covariance = product - mean_p * mean_q
    structure = (2 * covariance + c2) / (square_p - mean_p**2 + square_q - mean_q**2 + c2)
    return (luminance * structure).mean((1, 2)), structure.mean((1, 2))


def halved(x: Array) -> Array:
    height, width = x.shape[1:3]
    x = np.pad(x, ((0, 0), (0, height % 2), (0, width % 2), (0, 0)), "edge")
    return np.asarray(x.reshape(len(x), x.shape[1] // 2, 2, x.shape[2] // 2, 2, x.shape[3]).mean((2, 4)))


def test_quality_on_several_scales() -> None:
    x = pixels(2, 45, 46, 2)
    noise = np.random.default_rng(SEED + 1).integers(-20, 21, x.shape)
    y = np.clip(x.astype(np.int64) + noise, 0, 255).astype(np.uint8)
    a, b = x.astype(np.float64), y.astype(np.float64)
    powers = (0.2, 0.3, 0.5)
    expected = np.ones((2, 2))
    for scale, power in enumerate(powers):
        if scale:
            a, b = map(halved, (a, b))
        whole, structure = similarity(a, b)
        expected *= np.maximum(whole if scale == 2 else structure, 0) ** power
    same(comparison.ssim_multiscale(x, y, 255, powers), expected.mean(1), 1e-4)


def test_resize_images() -> None:
    x = pixels(2, 3, 4, 1)
    for method, function in enumerate(
        (resizing.resize_bilinear, resizing.resize_nearest_neighbor, resizing.resize_bicubic, resizing.resize_area)
    ):
        out = resizing.resize_images(x, [5, 7], method)
        assert out.dtype == (ag.uint8 if method == 1 else ag.float32)
        assert out.numpy().tolist() == function(x, [5, 7]).numpy().tolist()
        single = resizing.resize_images(x[0], [5, 7], method, align_corners=True)
        assert single.numpy().tolist() == function(x, ag.constant([5, 7]), True).numpy()[0].tolist()
    assert resizing.resize_images(x, [3, 4]).dtype == ag.uint8
    assert resizing.resize_images(x, [9, 9], preserve_aspect_ratio=True).shape == (2, 7, 9, 1)


def test_crops_of_boxes() -> None:
    x = random(2, 5, 6, 3).astype(np.float32)
    corners = np.array([[0, 0, 1, 1], [0.25, 0.2, 0.75, 0.8], [1, 1, 0, 0], [-0.5, 0.1, 0.6, 1.3]], np.float32)
    numbers = np.array([0, 1, 1, 0], np.int32)

    def at(n: int, y: float, x_: float) -> Any:
        if not (0 <= y <= 4 and 0 <= x_ <= 5):
            return np.full(3, -1.0)
        top, left = int(y), int(x_)
        bottom, right = min(top + 1, 4), min(left + 1, 5)
        upper = x[n, top, left] * (1 - x_ + left) + x[n, top, right] * (x_ - left)
        lower = x[n, bottom, left] * (1 - x_ + left) + x[n, bottom, right] * (x_ - left)
        return upper * (1 - y + top) + lower * (y - top)

    for height, width in ((3, 4), (1, 2)):
        out = boxes.crop_and_resize(x, corners, numbers, [height, width], extrapolation_value=-1)
        for n, i, j in np.ndindex(4, height, width):
            y1, x1, y2, x2 = corners[n].astype(np.float64) * [4, 5, 4, 5]
            y = y1 + (y2 - y1) * i / (height - 1) if height > 1 else (y1 + y2) / 2
            same(out[n, i, j], at(int(numbers[n]), y, x1 + (x2 - x1) * j / (width - 1)), 1e-5)
    same(boxes.crop_and_resize(x, corners[:1], [1], [5, 6], "nearest"), x[1:])


def test_crops_of_boxes_are_differentiable() -> None:
    x, corners = ag.constant(random(1, 4, 4, 1), ag.float32), ag.constant([[0.1, 0.2, 0.65, 0.85]])
    with ag.GradientTape(persistent=True) as tape:
        tape.watch([x, corners])
        out = ag.reduce_sum(boxes.crop_and_resize(x, corners, [0], [3, 3]) * np.arange(9.0).reshape(3, 3, 1))
    same(ag.reduce_sum(tape.gradient(out, x)), 36, 1e-5)
    step = np.float32(1e-2)
    for n in range(4):
        moved = np.eye(4, dtype=np.float32)[n] * step
        ends = [
            np.vdot(boxes.crop_and_resize(x, corners + sign * moved, [0], [3, 3]).numpy(), np.arange(9.0))
            for sign in (1, -1)
        ]
        assert tape.gradient(out, corners).numpy()[0, n] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=2e-2)


def test_patches_are_those_of_slices() -> None:
    x = random(1, 5, 5, 2)
    out = patches.extract_image_patches(x, [1, 2, 3, 1], [1, 2, 1, 1], [1, 1, 1, 1], "VALID")
    expected = [[x[0, r : r + 2, c : c + 3].reshape(-1) for c in range(3)] for r in (0, 2)]
    same(out, [expected])


X = np.ones((4, 4, 3), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: image.flip_left_right(X[0]),
            ValueError,
            "flip_left_right: 'image' must have either 3 or 4 dimensions, (height, width, channels) or with a batch "
            "before; got shape (4, 3).",
        ),
        (
            lambda: image.central_crop(X, 0.0),
            ValueError,
            "central_crop: central_fraction must be within (0, 1]; got 0.0.",
        ),
        (
            lambda: image.crop_to_bounding_box(X, 2, 0, 3, 4),
            ValueError,
            "crop_to_bounding_box: rows 2 to 5 and columns 0 to 4 do not lie inside of an image of shape (4, 4, 3).",
        ),
        (
            lambda: image.crop_to_bounding_box(X, -1, 0, 3, 4),
            ValueError,
            "crop_to_bounding_box: offsets must be >= 0 and sizes > 0; got offsets -1, 0 and sizes 3, 4.",
        ),
        (
            lambda: image.pad_to_bounding_box(X, 1, 0, 4, 4),
            ValueError,
            "pad_to_bounding_box: an image of shape (4, 4, 3) with 1 rows above and 0 columns on the left does not fit "
            "into height 4 and width 4.",
        ),
        (
            lambda: image.resize_image_with_crop_or_pad(X, 0, 4),
            ValueError,
            "resize_image_with_crop_or_pad: offsets must be >= 0 and sizes > 0; got offsets 0, 0 and sizes 0, 4.",
        ),
        (
            lambda: intensity.convert_image_dtype([True], ag.float32),
            InvalidArgumentError,
            "convert_image_dtype: from bool to float32; use integer or floating-point dtypes.",
        ),
        (
            lambda: intensity.adjust_contrast(X[0], 2.0),
            InvalidArgumentError,
            "adjust_contrast: images must be of shape (..., height, width, channels); got (4, 3).",
        ),
        (
            lambda: intensity.adjust_gamma(X, -1.0),
            ValueError,
            "adjust_gamma: gamma should be a non-negative real number; got -1.0.",
        ),
        (
            lambda: intensity.random_brightness(X, -1.0),
            ValueError,
            "random_brightness: max_delta must be non-negative; got -1.0.",
        ),
        (
            lambda: intensity.random_contrast(X, 1.0, 1.0),
            ValueError,
            "random_contrast: upper must be > lower, and lower must be non-negative; got 1.0 and 1.0.",
        ),
        (
            lambda: color.random_hue(X, 0.6),
            ValueError,
            "random_hue: max_delta must be in [0, 0.5]; got 0.6.",
        ),
        (
            lambda: color.rgb_to_hsv(X[..., :2]),
            InvalidArgumentError,
            "rgb_to_hsv: images must be floats of shape (..., 3); got dtype float32 and shape (4, 4, 2).",
        ),
        (
            lambda: color.rgb_to_grayscale(X[..., :2]),
            InvalidArgumentError,
            "rgb_to_grayscale: images must be of shape (..., 3); got shape (4, 4, 2).",
        ),
        (
            lambda: color.grayscale_to_rgb(X),
            InvalidArgumentError,
            "grayscale_to_rgb: images must be of shape (..., 1); got shape (4, 4, 3).",
        ),
        (
            lambda: comparison.image_gradients(X),
            ValueError,
            "image_gradients expects a 4D tensor [batch_size, h, w, d], not a tensor of shape (4, 4, 3).",
        ),
        (
            lambda: comparison.sobel_edges(X),
            InvalidArgumentError,
            "sobel_edges: image must be of shape (batch, height, width, channels); got shape (4, 4, 3).",
        ),
        (
            lambda: comparison.psnr(X, X[:2], 1.0),
            ValueError,
            "psnr: both images must be of one shape (..., height, width, channels); got (4, 4, 3) and (2, 4, 3).",
        ),
        (
            lambda: comparison.ssim(X, X, 1.0),
            ValueError,
            "ssim: images must be at least 11 pixels high and wide; got shape (4, 4, 3).",
        ),
        (
            lambda: boxes.crop_and_resize(X[None], X[0, :, :2], [0] * 4, [2, 2]),
            InvalidArgumentError,
            "crop_and_resize: boxes must be of shape (boxes, 4) and box_ind of shape (boxes,); got shapes (4, 2) and "
            "(4,).",
        ),
        (
            lambda: boxes.crop_and_resize(X[None], X[0].T, [0] * 3, [2]),
            InvalidArgumentError,
            "crop_and_resize: crop_size must be 2 positive integers; got [2].",
        ),
        (
            lambda: boxes.crop_and_resize(X[None], X[0].T, [0] * 3, [2, 2], "area"),
            InvalidArgumentError,
            "crop_and_resize: method must be 'bilinear' or 'nearest'; got 'area'.",
        ),
        (
            lambda: boxes.crop_and_resize(X[None, :0], X[0].T, [0] * 3, [2, 2]),
            InvalidArgumentError,
            "crop_and_resize: there are no pixels in an image of shape (1, 0, 4, 3).",
        ),
        (
            lambda: comparison.ssim_multiscale(X, X, 1.0),
            ValueError,
            "ssim_multiscale: images must be at least 161 pixels high and wide; got shape (4, 4, 3).",
        ),
        (
            lambda: resizing.resize_images(X[0], [2, 2]),
            ValueError,
            "resize_images: 'images' must have either 3 or 4 dimensions; got shape (4, 3).",
        ),
        (
            lambda: resizing.resize_images(X, [2]),
            ValueError,
            "resize_images: 'size' must be 2 integers (height, width); got [2].",
        ),
        (
            lambda: resizing.resize_images(X, [2, 2], 4),
            ValueError,
            "resize_images: method must be a constant of ResizeMethod, 0 to 3; got 4.",
        ),
    ],
)
def test_errors(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with says(error, text):
        call()
