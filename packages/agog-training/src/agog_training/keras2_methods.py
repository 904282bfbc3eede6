"""Keras 2 methods: methods of models for classes and generators, dropped by Keras."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from agog_core.calls.docstrings import documented_like
from agog_training.arguments import QUEUES, check_arguments, without_queues

__all__ = ["Keras2Methods"]


class Keras2Methods:
    """The part of a model whose methods are others' under older names."""

    fit: Callable[..., Any]
    evaluate: Callable[..., Any]
    predict: Callable[..., Any]

    def predict_classes(self, x: Any, batch_size: int | None = None, verbose: int = 0) -> Any:
        """The likeliest class of each example, or for one probability whether it is more than a half.

        Args:
            x: inputs.
            batch_size: the number of examples in a batch.
            verbose: 1 for a progress bar.

        Returns:
            An array of integers, of shape (examples,), or (examples, 1) for one probability.
        """
        scores = self.predict_proba(x, batch_size, verbose)
        return scores.argmax(-1) if scores.shape[-1] > 1 else (scores > 0.5).astype("int32")

    @documented_like(predict_classes)
    def predict_proba(self, x: Any, batch_size: int | None = None, verbose: int = 0) -> Any:
        """The same as ``predict``.

        Returns:
            An array, or arrays in the structure of the outputs.
        """
        return self.predict(x, batch_size, verbose)

    def fit_generator(
        self, generator: Iterable[Any], steps_per_epoch: int | None = None, epochs: int = 1, **kwargs: Any
    ) -> Any:
        """See `fit`, which takes generators too."""
        check_arguments(type(self).fit, kwargs, QUEUES)
        return self.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, **without_queues(kwargs))

    def evaluate_generator(self, generator: Iterable[Any], steps: int | None = None, **kwargs: Any) -> Any:
        """See `evaluate`, which takes generators too."""
        check_arguments(type(self).evaluate, kwargs, QUEUES)
        return self.evaluate(generator, steps=steps, **({"verbose": 0} | without_queues(kwargs)))

    def predict_generator(self, generator: Iterable[Any], steps: int | None = None, **kwargs: Any) -> Any:
        """See `predict`, which takes generators too."""
        check_arguments(type(self).predict, kwargs, QUEUES)
        return self.predict(generator, steps=steps, **without_queues(kwargs))
