"""Logs: the numbers of a training by name, with TensorFlow 1.12's names as aliases."""

from __future__ import annotations

from typing import Any

__all__ = ["Results", "numbers"]

# Names given to `compile`, and TensorFlow 1.12's names for them in the logs.
_OLDER = {
    "accuracy": "acc",
    "crossentropy": "ce",
    "kld": "kullback_leibler_divergence",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "mse": "mean_squared_error",
    "msle": "mean_squared_logarithmic_error",
}


class Results(dict[str, Any]):
    """Names to numbers. A missing name is looked up under the name given to `compile`.

    >>> results = Results(val_accuracy=0.75)
    >>> results["val_acc"], results.get("val_acc"), list(results)
    (0.75, 0.75, ['val_accuracy'])
    """

    def __missing__(self, name: str) -> Any:
        for given, older in _OLDER.items():
            kept = name.removesuffix(older) + given
            if name.endswith(older) and kept in self:
                return self[kept]
        raise KeyError(name)

    def get(self, key: str, default: Any = None) -> Any:
        """The number of a name, or the default."""
        try:
            return self[key]
        except KeyError:
            return default


def numbers(results: dict[str, float], return_dict: bool = False) -> Any:
    """The public form of results: a number, a list of several, or a dict.

    >>> numbers({"loss": 0.5}), numbers({"loss": 0.5, "mse": 1.0})
    (0.5, [0.5, 1.0])
    """
    if return_dict:
        return Results(results)
    values = list(results.values())
    return values if len(values) > 1 else values[0]
