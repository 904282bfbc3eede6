"""Lookup of metrics by name, as in ``tf.keras.metrics``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_core import TensorShape
from agog_layers.base.lookup import Lookup
from agog_layers.base.names import snake_case
from agog_layers.losses import lookup as losses
from agog_layers.metrics import correctness
from agog_layers.metrics.keras import counts, means, metric, operating_points, scores, similarity

__all__ = ["deserialize", "get", "serialize"]

by_name = losses.by_name | {name: getattr(correctness, name) for name in correctness.__all__}
by_name |= {
    "acc": correctness.accuracy,
    "concordance_correlation": similarity.concordance_correlation,
    "pearson_correlation": similarity.pearson_correlation,
}

_MODULES = (metric, means, counts, scores, operating_points, similarity)
_listed = [getattr(module, name) for module in _MODULES for name in module.__all__]
_classes = [each for each in _listed if isinstance(each, type)]
_metrics = Lookup("metric", by_name, tuple(cls for cls in _classes if cls is not metric.Metric))
# What is made of a class's name alone.
_makers = {
    name: cls for cls in _classes for name in (cls.__name__, snake_case(cls.__name__)) if cls is not metric.Metric
}

_ACCURACY = ("accuracy", "acc")
_CROSSENTROPY = ("crossentropy", "ce")
# What a loss says about the labels.
_KINDS = {"binary_crossentropy": "binary", "sparse_categorical_crossentropy": "sparse_categorical"}


def get(identifier: Any) -> Any:
    """The metric that an argument stands for.

    Args:
        identifier: a name, a function or a `Metric`, what `serialize` returned, or None. ``"accuracy"`` and ``"acc"``
            go by the shapes of labels and predictions. The name of a class, as it is or in snake case, makes a metric.

    Returns:
        A function of labels and predictions, or a `Metric`; None for None.

    Raises:
        ValueError: the name is unknown.
        TypeError: the argument is none of these.

    >>> print(get("accuracy")([1, 1], [[0.2, 0.8], [0.7, 0.3]]))
    tf.Tensor([1. 0.], shape=(2,), dtype=float32)
    """
    if isinstance(identifier, str) and identifier not in by_name and identifier in _makers:
        return _makers[identifier]()
    return _metrics.get(identifier)


def get_for(identifier: Any, loss: Any, output_shape: Any) -> Any:
    """The metric for an argument of ``Model.compile``; some names depend on the output's loss.

    ``"accuracy"`` and ``"acc"`` are the binary accuracy for outputs of one number and for `binary_crossentropy`, the
    sparse one for `sparse_categorical_crossentropy`, and else the categorical one; ``"crossentropy"`` and ``"ce"``
    are the binary, sparse or categorical cross entropy in the same way. The shape has the batch axis.

    >>> get_for("acc", "sparse_categorical_crossentropy", (None, 10)).__name__
    'sparse_categorical_accuracy'
    """
    if not isinstance(identifier, str) or identifier not in (*_ACCURACY, *_CROSSENTROPY):
        return get(identifier)
    of_loss = losses.get(loss)
    name = getattr(getattr(type(of_loss), "function", of_loss), "__name__", "")
    each = TensorShape(output_shape)[1:]
    kind = "binary" if each[-1:] in ([], [1]) else _KINDS.get(name, "categorical")
    return get(f"{kind}_{'accuracy' if identifier in _ACCURACY else 'crossentropy'}")


def serialize(metric: Any) -> Any:
    """Describe a metric by data.

    Args:
        metric: a function, or an object with `get_config`.

    Returns:
        The function's name; of objects a dict with ``class_name`` and ``config``.

    Raises:
        ValueError: it is neither.

    >>> serialize(correctness.binary_accuracy)
    'binary_accuracy'
    """
    return _metrics.serialize(metric)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The metric that `serialize` described.

    Args:
        config: what `serialize` returned.
        custom_objects: names to functions and classes of the program.

    Returns:
        A function of labels and predictions, or a new `Metric`.

    Raises:
        ValueError: the name is unknown.

    >>> deserialize("mse").__name__
    'mean_squared_error'
    """
    return _metrics.deserialize(config, custom_objects)
