"""Boxes in images: cropping, and non-maximum suppression."""

from __future__ import annotations

from typing import Any

from agog_core.calls.call import call
from agog_core.dispatch.op import define
from agog_core.dtypes import FLOATING, float32, int32
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, expand_dims, range, reshape, stop_gradient, unstack
from agog_core.ops.conv.arguments import check_choice, check_rank, sizes_of
from agog_core.ops.indexing.gathering import gather_nd
from agog_core.ops.math import ceil, clip_by_value, floor, where
from agog_core.shapes import Shape, TensorShape
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["crop_and_resize", "non_max_suppression"]


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
) -> Tensor:
    """Cut boxes out of images and give all of them one size; differentiable in images and boxes.

    K. He et al., "Mask R-CNN", ICCV 2017, samples regions in this way.

    Args:
        image: numbers of shape (batch, height, width, channels).
        boxes: floats of shape (boxes, 4): y1, x1, y2, x2, where 0 and 1 are the centers of the first and the last
            pixel. A box with y1 > y2 is upside down, and boxes may reach over the image.
        box_ind: integers of shape (boxes,): which image each box is cut from.
        crop_size: the height and width of the results.
        method: ``"bilinear"`` or ``"nearest"``.
        extrapolation_value: what is outside of the image.

    Returns:
        A float32 tensor of shape (boxes, crop height, crop width, channels).

    Raises:
        InvalidArgumentError: shapes or another argument do not fit, or there is no such image.

    >>> image = [[[[1.0], [2.0]], [[3.0], [4.0]]]]
    >>> print(crop_and_resize(image, [[0.0, 0.0, 1.0, 1.0]], [0], [1, 3]).numpy().tolist())
    [[[[2.0], [2.5], [3.0]]]]
    """
    op = "crop_and_resize"
    check_choice(op, "method", method, ("bilinear", "nearest"))
    pixels, corners, chosen = cast(image, float32), cast(boxes, float32), convert_to_tensor(box_ind)
    size = sizes_of(crop_size)
    check_rank(op, "image", pixels, 4, "batch, height, width, channels")
    count = corners._shape[0] if corners._shape else 0
    if corners._shape != (count, 4) or chosen._shape != (count,):
        raise InvalidArgumentError(
            f"{op}: boxes must be of shape (boxes, 4) and box_ind of shape (boxes,); got shapes {corners._shape} and "
            f"{chosen._shape}."
        )
    if len(size) != 2 or min(size) < 1:
        raise InvalidArgumentError(f"{op}: crop_size must be 2 positive integers; got {list(size)}.")
    if 0 in pixels._shape[1:3]:
        raise InvalidArgumentError(f"{op}: there are no pixels in an image of shape {pixels._shape}.")
    top, left, bottom, right = unstack(corners, axis=1)
    _, height, width, _ = pixels._shape
    rows = reshape(_positions(top, bottom, height, size[0]), (count, size[0], 1))
    columns = reshape(_positions(left, right, width, size[1]), (count, 1, size[1]))
    number = reshape(cast(chosen, int32), (count, 1, 1))
    if method == "nearest":
        found = _pixels(pixels, number, floor(rows + 0.5), floor(columns + 0.5))
    else:
        above, before = stop_gradient(floor(rows)), stop_gradient(floor(columns))
        below, after = stop_gradient(ceil(rows)), stop_gradient(ceil(columns))
        across, down = expand_dims(columns - before, -1), expand_dims(rows - above, -1)
        upper = _between(_pixels(pixels, number, above, before), _pixels(pixels, number, above, after), across)
        lower = _between(_pixels(pixels, number, below, before), _pixels(pixels, number, below, after), across)
        found = _between(upper, lower, down)
    is_inside = _within(rows, height) & _within(columns, width)
    return where(expand_dims(is_inside, -1), found, float(extrapolation_value))


def _positions(first: Tensor, last: Tensor, length: int, count: int) -> Tensor:
    """Where the rows or columns of each box's result lie in the image: a tensor of shape (boxes, count)."""
    if count == 1:
        return expand_dims((first + last) * (0.5 * (length - 1)), 1)
    step = (last - first) * ((length - 1) / (count - 1))
    offsets = expand_dims(step, 1) * range(count, dtype=float32)
    return expand_dims(first, 1) * float(length - 1) + offsets


def _pixels(image: Tensor, number: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """The pixels at integral positions; positions outside are moved to the border."""
    batch, height, width, channels = image._shape
    y = cast(clip_by_value(rows, 0.0, height - 1.0), int32)
    x = cast(clip_by_value(columns, 0.0, width - 1.0), int32)
    index = (number * height + y) * width + x
    return gather_nd(reshape(image, (batch * height * width, channels)), expand_dims(index, -1))


def _between(first: Tensor, second: Tensor, part: Tensor) -> Tensor:
    return first + (second - first) * part


def _within(positions: Tensor, length: int) -> Tensor:
    return (positions >= 0.0) & (positions <= length - 1.0)


def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """Choose boxes by their scores, and drop those that overlap much with a better one.

    Args:
        boxes: floats of shape (boxes, 4): the coordinates y1, x1, y2, x2 of any two opposite corners.
        scores: floats of shape (boxes,).
        max_output_size: how many boxes are chosen at most.
        iou_threshold: a box is dropped when the quotient of intersection and union with a better one is above it.
        score_threshold: only boxes with a score above it are chosen.

    Returns:
        An int32 tensor of shape (chosen,): the numbers of the boxes, the best first.

    Raises:
        InvalidArgumentError: shapes or dtypes do not fit, or the threshold is not in [0, 1].

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 5.0, 1.0, 6.0]]
    >>> print(non_max_suppression(boxes, [0.7, 0.9, 0.5], 3))
    tf.Tensor([1 2], shape=(2,), dtype=int32)
    """
    overlap, least = float(host_value(iou_threshold)), float(host_value(score_threshold))
    if not 0 <= overlap <= 1:
        raise InvalidArgumentError(f"non_max_suppression: iou_threshold must be in [0, 1]; got {overlap}.")
    corners, numbers = convert_to_tensor(boxes), convert_to_tensor(scores)
    most = max(0, int(host_value(max_output_size)))
    return call(_suppression, corners, numbers, max_output_size=most, iou_threshold=overlap, score_threshold=least)


def _suppression_shape(boxes: Shape, scores: Shape, **attributes: Any) -> TensorShape:
    if len(scores) != 1 or boxes != (*scores, 4):
        raise InvalidArgumentError(
            f"non_max_suppression: boxes must be of shape (boxes, 4) and scores of shape (boxes,); got shapes {boxes} "
            f"and {scores}."
        )
    return TensorShape([None])


_suppression = define(
    non_max_suppression, shape=_suppression_shape, dtype=int32, dtypes=FLOATING, host_reads=["boxes", "scores"]
)
