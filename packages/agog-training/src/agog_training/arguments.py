"""Arguments: checks of unknown arguments, and of arguments without effect."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agog_core import nest
from agog_layers.arguments.checks import refuse_unknown

__all__ = ["QUEUES", "check_arguments", "check_modes", "is_due", "without_queues"]

# How Keras runs generators in threads and processes, with what it does by default.
QUEUES = {"max_queue_size": 10, "workers": 1, "use_multiprocessing": False}


def check_arguments(
    method: Callable[..., Any], given: Mapping[str, Any], without_effect: Mapping[str, Any] | None = None
) -> None:
    """Raise a TypeError for what a method was given in ``**kwargs`` and does not know.

    A warning names arguments without effect; they come by name with their defaults.

    >>> def train(epochs=1, **kwargs): ...
    >>> check_arguments(train, {"epoch": 3})
    Traceback (most recent call last):
    TypeError: train has no argument 'epoch'; did you mean 'epochs'?
    """
    quiet = without_effect or {}
    named = [p.name for p in inspect.signature(method).parameters.values() if p.kind != p.VAR_KEYWORD]
    refuse_unknown(method.__name__, given, [*(name for name in named if name != "self"), *quiet])
    changed = [name for name, value in given.items() if name in quiet and value != quiet[name]]
    if changed:
        verb = "has" if len(changed) == 1 else "have"
        warnings.warn(
            f"{method.__name__}: {' and '.join(changed)} {verb} no effect; read data in parallel with dataset.map(f, "
            "num_parallel_calls=n) and dataset.prefetch(n).",
            UserWarning,
            stacklevel=3,
        )


def is_due(frequency: int | Iterable[int], epoch: int) -> bool:
    """Whether something is done in an epoch: in each so many, or in those that are listed; they count from 1.

    >>> is_due(2, 4), is_due(2, 5), is_due([1, 5], 5)
    (True, False, True)
    """
    return epoch % frequency == 0 if isinstance(frequency, int) else epoch in frequency


def without_queues(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments without those that say how Keras runs generators.

    >>> without_queues({"workers": 4, "epochs": 2})
    {'epochs': 2}
    """
    return {name: value for name, value in given.items() if name not in QUEUES}


def check_modes(model: str, names: Sequence[str] | None, given: Any) -> None:
    """Check the ``sample_weight_mode`` of a model, whose outputs may not be known by name yet; a ValueError says which
    is no mode, or that there are not as many as outputs."""
    modes = list(given.values()) if nest.is_mapping(given) else given if isinstance(given, (list, tuple)) else [given]
    if isinstance(given, (list, tuple)) and len(given) != len(names or given or ("output",)):
        raise ValueError(
            f"Model {model!r}: sample_weight_mode has {len(given)} entries; the outputs are "
            f"{list(names or ['output'])}."
        )
    if nest.is_mapping(given) and names is not None and (unknown := sorted(set(given) - set(names))):
        raise ValueError(f"Model {model!r}: sample_weight_mode has {unknown}, but the outputs are {list(names)}.")
    for mode in modes:
        if mode not in (None, "temporal"):
            raise ValueError(f"Model {model!r}: sample_weight_mode must be None or 'temporal'; got {mode!r}.")
