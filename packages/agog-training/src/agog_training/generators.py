"""Generators: `fit`, `evaluate` and `predict` under the names that they once had for generators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agog_training.arguments import QUEUES, check_arguments, without_queues

__all__ = ["Generators"]


class Generators:
    """The part of a model with the names of old for generators."""

    def fit_generator(
        self, generator: Iterable[Any], steps_per_epoch: int | None = None, epochs: int = 1, **kwargs: Any
    ) -> Any:
        """See `fit`, which takes generators too."""
        model: Any = self
        check_arguments(type(model).fit, kwargs, QUEUES)
        return model.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, **without_queues(kwargs))

    def evaluate_generator(self, generator: Iterable[Any], steps: int | None = None, **kwargs: Any) -> Any:
        """See `evaluate`, which takes generators too."""
        model: Any = self
        check_arguments(type(model).evaluate, kwargs, QUEUES)
        return model.evaluate(generator, steps=steps, **({"verbose": 0} | without_queues(kwargs)))

    def predict_generator(self, generator: Iterable[Any], steps: int | None = None, **kwargs: Any) -> Any:
        """See `predict`, which takes generators too."""
        model: Any = self
        check_arguments(type(model).predict, kwargs, QUEUES)
        return model.predict(generator, steps=steps, **without_queues(kwargs))
