"""Similarity: directions, correlations and overlaps of labels and predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import agog_core as ag
from agog_core import Tensor
from agog_core.calls.docstrings import documented_like
from agog_layers.losses.arguments import of_floats
from agog_layers.metrics.keras.metric import FunctionMean, Mean
from agog_layers.metrics.keras.scores import IoU, MeanIoU

__all__ = [
    "BinaryIoU",
    "ConcordanceCorrelation",
    "CosineSimilarity",
    "MeanMetricWrapper",
    "OneHotIoU",
    "OneHotMeanIoU",
    "PearsonCorrelation",
    "concordance_correlation",
    "pearson_correlation",
]


class MeanMetricWrapper(Mean):
    """The mean of a function of labels and predictions.

    Args:
        fn: the function; it gives a number for each example.
        name: the metric's name; None for the function's.
        dtype: the dtype of the mean.
        **kwargs: further arguments of the function.

    >>> print(MeanMetricWrapper(lambda y_true, y_pred: abs(y_true - y_pred))([1.0, 2.0], [1.0, 4.0]))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name or getattr(fn, "__name__", None), dtype)
        self._fn, self._arguments = fn, kwargs

    def update_state(  # type: ignore[override]  # what is averaged is computed here
        self, y_true: ag.TensorLike, y_pred: ag.TensorLike, sample_weight: ag.TensorLike = None
    ) -> None:
        """Take labels and predictions into account; see `Mean.update_state`."""
        values = self._fn(ag.convert_to_tensor(y_true), ag.convert_to_tensor(y_pred), **self._arguments)
        super().update_state(values, sample_weight)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, and those of the function."""
        return {**super().get_config(), "fn": self._function_name(), **self._arguments}

    def _function_name(self) -> str:
        name = getattr(self._fn, "__name__", "")
        if not name.isidentifier():
            raise NotImplementedError(
                f"MeanMetricWrapper.get_config: {self._fn!r} has no name by which loading could find it; define it "
                "with def, or derive a class from tf.keras.metrics.Metric that has get_config."
            )
        return str(name)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """See `Metric.from_config`; the function is found by its name."""
        from agog_layers.metrics import lookup  # here, because it stands on this file

        return cls(**{**config, "fn": lookup.get(config["fn"])})


@of_floats
def _cosine(y_true: ag.TensorLike, y_pred: ag.TensorLike, axis: int = -1) -> Tensor:
    return ag.reduce_sum(ag.nn.l2_normalize(y_true, axis) * ag.nn.l2_normalize(y_pred, axis), axis)


class CosineSimilarity(FunctionMean, function=_cosine, options=("axis",)):
    """The mean cosine of the angle between labels and predictions: 1 where they point in one direction.

    Args:
        axis: the axis along which they are vectors.
        Other arguments: see `Metric`.

    >>> print(CosineSimilarity()([[0.0, 2.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(self, name: str | None = None, dtype: Any = None, axis: int = -1) -> None:
        super().__init__(name or "cosine_similarity", dtype)
        self.axis = axis


def _moments(y_true: ag.TensorLike, y_pred: ag.TensorLike, axis: int) -> tuple[Tensor, ...]:
    """The means, the variances and the covariance."""
    means = [ag.reduce_mean(each, axis, True) for each in (y_true, y_pred)]
    y, x = y_true - means[0], y_pred - means[1]
    parts = (ag.reduce_mean(ag.square(y), axis), ag.reduce_mean(ag.square(x), axis), ag.reduce_mean(y * x, axis))
    shift = ag.reduce_sum(ag.square(ag.subtract(*means)), axis)
    return (shift, *parts)


@of_floats
def pearson_correlation(y_true: ag.TensorLike, y_pred: ag.TensorLike, axis: int = -1) -> Tensor:
    """The correlation of labels and predictions: 1 where one is a line of the other.

    Args:
        y_true: labels.
        y_pred: predictions, of the same shape.
        axis: the axis along which they are compared.

    Returns:
        A tensor of the other axes; 0 where labels or predictions are all equal.

    >>> print(pearson_correlation([[1.0, 2.0, 3.0]], [[2.0, 4.0, 6.0]]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """
    _, of_y, of_x, both = _moments(y_true, y_pred, axis)
    return ag.div_no_nan(both, ag.sqrt(of_y * of_x))


@documented_like(pearson_correlation)
@of_floats
def concordance_correlation(y_true: ag.TensorLike, y_pred: ag.TensorLike, axis: int = -1) -> Tensor:
    """How near predictions are to labels, from -1 to 1: the correlation, less where means or variances differ.

    L. Lin, "A concordance correlation coefficient to evaluate reproducibility", Biometrics 45, 1989.

    Returns:
        A tensor of the other axes.

    >>> print(concordance_correlation([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """
    shift, of_y, of_x, both = _moments(y_true, y_pred, axis)
    return ag.div_no_nan(both * 2.0, of_y + of_x + shift)


class PearsonCorrelation(FunctionMean, function=pearson_correlation, options=("axis",)):
    """The mean `pearson_correlation`.

    Args:
        axis: the axis along which labels and predictions are compared.
        Other arguments: see `Metric`.

    >>> print(PearsonCorrelation()([[1.0, 2.0, 3.0]], [[3.0, 2.0, 1.0]]))
    tf.Tensor(-1.0, shape=(), dtype=float32)
    """

    def __init__(self, name: str | None = None, dtype: Any = None, axis: int = -1) -> None:
        super().__init__(name or "pearson_correlation", dtype)
        self.axis = axis


class ConcordanceCorrelation(FunctionMean, function=concordance_correlation, options=("axis",)):
    """The mean `concordance_correlation`.

    Args:
        axis: the axis along which labels and predictions are compared.
        Other arguments: see `Metric`.

    >>> print(ConcordanceCorrelation()([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]]))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """

    def __init__(self, name: str | None = None, dtype: Any = None, axis: int = -1) -> None:
        super().__init__(name or "concordance_correlation", dtype)
        self.axis = axis


class BinaryIoU(IoU, options=("target_class_ids", "threshold")):
    """See `IoU`; for two classes and one probability.

    Args:
        target_class_ids: 0, 1 or both.
        threshold: what predictions of class 1 are at least.
        Other arguments: see `Metric`.

    >>> print(BinaryIoU(target_class_ids=[1])([0, 0, 1, 1], [0.1, 0.6, 0.7, 0.9]))
    tf.Tensor(0.6666667, shape=(), dtype=float32)
    """

    def __init__(
        self, target_class_ids: Any = (0, 1), threshold: float = 0.5, name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(2, target_class_ids, name or "binary_io_u", dtype)
        self.threshold = threshold

    def update_state(self, y_true: ag.TensorLike, y_pred: ag.TensorLike, sample_weight: ag.TensorLike = None) -> None:
        """Take labels and probabilities into account; see `Sum.update_state`."""
        classes = ag.cast(ag.cast(y_pred, self.dtype) >= self.threshold, "int64")
        super().update_state(ag.cast(y_true, "int64"), classes, sample_weight)


class OneHotIoU(IoU, options=("num_classes", "target_class_ids", "sparse_y_pred")):
    """See `IoU`; for one-hot labels and probabilities.

    Args:
        sparse_y_pred: whether predictions are class numbers.
        Other arguments: see `IoU`.

    >>> print(OneHotIoU(2, [1])([[1, 0], [0, 1]], [[0.2, 0.8], [0.1, 0.9]]))
    tf.Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Any,
        name: str | None = None,
        dtype: Any = None,
        sparse_y_pred: bool = False,
    ) -> None:
        super().__init__(num_classes, target_class_ids, name or "one_hot_io_u", dtype, False, sparse_y_pred)


class OneHotMeanIoU(MeanIoU, options=("num_classes", "sparse_y_pred")):
    """See `MeanIoU`; for one-hot labels and probabilities.

    Args:
        sparse_y_pred: whether predictions are class numbers.
        Other arguments: see `MeanIoU`.

    >>> print(OneHotMeanIoU(2)([[1, 0], [0, 1]], [[0.2, 0.8], [0.1, 0.9]]))
    tf.Tensor(0.25, shape=(), dtype=float32)
    """

    def __init__(
        self, num_classes: int, name: str | None = None, dtype: Any = None, sparse_y_pred: bool = False
    ) -> None:
        super().__init__(num_classes, name or "one_hot_mean_io_u", dtype, False, sparse_y_pred)
