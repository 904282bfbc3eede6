"""Lookup of metrics by name, as in ``tf.keras.metrics``."""

from __future__ import annotations

from typing import Any

from agog_core import TensorShape
from agog_layers.losses import lookup as losses
from agog_layers.metrics import correctness
from agog_layers.metrics.keras import counts, means, metric, operating_points, scores, similarity
from agog_layers.naming.names import snake_case
from agog_layers.serialization.lookup import Lookup

__all__ = ["deserialize", "get", "serialize"]

by_name = losses.by_name | {name: getattr(correctness, name) for name in correctness.__all__}
by_name |= {
    "acc": correctness.accuracy,
    "concordance_correlation": similarity.concordance_correlation,
    "pearson_correlation": similarity.pearson_correlation,
}

_MODULES = (metric, means, counts, scores, operating_points, similarity)
_exports = [getattr(module, name) for module in _MODULES for name in module.__all__]
_classes = [each for each in _exports if isinstance(each, type) and each is not metric.Metric]
METRICS = Lookup(
    "metric",
    by_name,
    aliases={name: cls for cls in _classes for name in (cls.__name__, snake_case(cls.__name__))},
    classes={cls.__name__: cls for cls in _classes},
    describes_own=True,
)
get, serialize, deserialize = METRICS.get, METRICS.serialize, METRICS.deserialize

_ACCURACY = ("accuracy", "acc")
_CROSSENTROPY = ("crossentropy", "ce")
# What a loss says about the labels.
_KINDS = {"binary_crossentropy": "binary", "sparse_categorical_crossentropy": "sparse_categorical"}


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
