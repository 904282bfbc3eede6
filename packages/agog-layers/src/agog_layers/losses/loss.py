"""Loss: losses of ``tf.keras`` as objects, with weights and a reduction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from agog_core import Tensor, TensorLike, cast, convert_to_tensor
from agog_core.settable import Settable
from agog_layers.layer.function_layer import taking_symbols
from agog_layers.layer.symbolic import Symbolic
from agog_layers.losses import classification, regression
from agog_layers.losses.arguments import of_one_rank
from agog_layers.losses.reduction import Reduction as Reductions
from agog_layers.losses.reduction import reduce_losses
from agog_layers.losses.sample_weights import aligned

__all__ = [
    "BinaryCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "CosineProximity",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "Reduction",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
]


class Reduction:
    """The reduction of a batch's losses to one number.

    ``NONE`` leaves them as they are, ``SUM`` adds them up, ``SUM_OVER_BATCH_SIZE`` divides the sum by their number;
    ``AUTO`` is the same.
    """

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """List the reductions.

        Returns:
            The names that losses take.
        """
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key: str) -> None:
        """Check the name of a reduction.

        Args:
            key: the name.

        Raises:
            ValueError: there is no such reduction.
        """
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key!r}; use one of {', '.join(cls.all())}.")


_REDUCTIONS = {
    Reduction.AUTO: Reductions.SUM_OVER_BATCH_SIZE,
    Reduction.NONE: Reductions.NONE,
    Reduction.SUM: Reductions.SUM,
    Reduction.SUM_OVER_BATCH_SIZE: Reductions.SUM_OVER_BATCH_SIZE,
}
_DEFAULT = Reduction.SUM_OVER_BATCH_SIZE

# What no description of a loss names.
BASES = ("Loss", "Reduction")


class Loss(Settable):
    """Base of losses. Subclasses say in `call` what the loss of each example is.

    Args:
        reduction: how the losses of a batch become one number; one of `Reduction`.
        name: the loss's name; by default the class's.

    Raises:
        ValueError: the reduction is unknown.

    >>> class Cubic(Loss):
    ...     def call(self, y_true, y_pred):
    ...         return abs(y_pred - y_true) ** 3
    >>> print(Cubic()([0.0, 0.0], [1.0, 2.0]))
    tf.Tensor(4.5, shape=(), dtype=float32)
    """

    def __init__(self, reduction: str = _DEFAULT, name: str | None = None) -> None:
        Reduction.validate(reduction)
        self.reduction = reduction
        self.name = name or type(self).__name__

    def __call__(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike = None) -> Tensor:
        """Compute the loss of a batch.

        Args:
            y_true: labels.
            y_pred: predictions, of shape ``(batch, ...)``.
            sample_weight: a scalar, or a weight for each example, or for each loss; None for 1.

        Returns:
            A scalar; for ``Reduction.NONE`` the weighted losses.

        Raises:
            ValueError: the weights' shape does not fit.
        """
        if Symbolic in map(type, (y_true, y_pred, sample_weight)):
            return _of_symbols(self, y_true, y_pred, sample_weight)
        y, x = convert_to_tensor(y_true), convert_to_tensor(y_pred)
        if x.dtype.is_floating and y.dtype.is_floating:
            y = cast(y, x.dtype)
        losses = convert_to_tensor(self.call(*of_one_rank(y, x)))
        weights = 1.0 if sample_weight is None else aligned(sample_weight, losses)
        return reduce_losses(self.name, losses, weights, _REDUCTIONS[self.reduction])

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Compute the losses of the examples; subclasses say how.

        Args:
            y_true: what should be predicted, a tensor of shape (batch, ...).
            y_pred: what is predicted, a tensor of the same shape.

        Returns:
            A tensor of losses, of shape (batch, ...).
        """
        raise NotImplementedError(f"{type(self).__name__}.call is not implemented; it computes each example's loss.")

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments.

        Returns:
            A dict by name, for `from_config`.
        """
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Make a loss from its config.

        Args:
            config: what `get_config` returned.

        Returns:
            A new loss.
        """
        return cls(**config)


def _called(loss: Loss, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike) -> Tensor:
    return loss(y_true, y_pred, sample_weight)


_of_symbols: Callable[..., Tensor] = taking_symbols("losses.loss", _called)


class FunctionLoss(Loss):
    """Base of losses whose `call` is a function; arguments beyond labels and predictions are attributes."""

    function: ClassVar[Callable[..., Tensor]]
    options: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(
        cls, *, function: Callable[..., Tensor] | None = None, options: tuple[str, ...] | None = None, **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        if function is not None:
            cls.function = staticmethod(function)
        if options is not None:
            cls.options = options

    def __init__(self, reduction: str = _DEFAULT, name: str | None = None) -> None:
        super().__init__(reduction, name or type(self).function.__name__)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return type(self).function(y_true, y_pred, **self._options())

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.options}

    def get_config(self) -> dict[str, Any]:
        return self._options() | super().get_config()


class MeanSquaredError(FunctionLoss, function=regression.mean_squared_error):
    """`mean_squared_error` of a batch.

    >>> print(MeanSquaredError()([[0.0], [0.0]], [[1.0], [3.0]]))
    tf.Tensor(5.0, shape=(), dtype=float32)
    """


class MeanAbsoluteError(FunctionLoss, function=regression.mean_absolute_error):
    """`mean_absolute_error` of a batch."""


class MeanAbsolutePercentageError(FunctionLoss, function=regression.mean_absolute_percentage_error):
    """`mean_absolute_percentage_error` of a batch."""


class MeanSquaredLogarithmicError(FunctionLoss, function=regression.mean_squared_logarithmic_error):
    """`mean_squared_logarithmic_error` of a batch."""


class LogCosh(FunctionLoss, function=regression.logcosh):
    """`logcosh` of a batch."""


class Poisson(FunctionLoss, function=regression.poisson):
    """`poisson` of a batch."""


class KLDivergence(FunctionLoss, function=regression.kullback_leibler_divergence):
    """`kullback_leibler_divergence` of a batch."""


class CosineProximity(FunctionLoss, function=regression.cosine_proximity):
    """`cosine_proximity` of a batch."""


class Hinge(FunctionLoss, function=classification.hinge):
    """`hinge` of a batch."""


class SquaredHinge(FunctionLoss, function=classification.squared_hinge):
    """`squared_hinge` of a batch."""


class CategoricalHinge(FunctionLoss, function=classification.categorical_hinge):
    """`categorical_hinge` of a batch."""


class Huber(FunctionLoss, function=regression.huber, options=("delta",)):
    """`huber` of a batch.

    Args:
        delta: where the loss changes from a parabola to a line.
        Other arguments: see `Loss`.
    """

    def __init__(self, delta: float = 1.0, reduction: str = _DEFAULT, name: str | None = None) -> None:
        super().__init__(reduction, name)
        self.delta = delta


class SparseCategoricalCrossentropy(
    FunctionLoss, function=classification.sparse_categorical_crossentropy, options=("from_logits",)
):
    """`sparse_categorical_crossentropy` of a batch.

    Args:
        from_logits: whether the predictions are logits.
        Other arguments: see `Loss`.
    """

    def __init__(self, from_logits: bool = False, reduction: str = _DEFAULT, name: str | None = None) -> None:
        super().__init__(reduction, name)
        self.from_logits = from_logits


class _Crossentropy(FunctionLoss, options=("from_logits", "label_smoothing")):
    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0,
        reduction: str = _DEFAULT,
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing


class CategoricalCrossentropy(_Crossentropy, function=classification.categorical_crossentropy):
    """`categorical_crossentropy` of a batch.

    Args:
        from_logits: whether the predictions are logits.
        label_smoothing: the share of each label that is spread evenly over the classes.
        Other arguments: see `Loss`.
    """


class BinaryCrossentropy(_Crossentropy, function=classification.binary_crossentropy):
    """`binary_crossentropy` of a batch.

    Args:
        from_logits: whether the predictions are logits.
        label_smoothing: how far labels are moved towards 1/2, from 0 to 1.
        Other arguments: see `Loss`.
    """
