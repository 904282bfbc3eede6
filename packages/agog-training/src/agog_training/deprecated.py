"""Classes: what a model that classifies says of examples, by methods of older programs."""

from __future__ import annotations

from typing import Any

__all__ = ["Classes"]


class Classes:
    """The part of a model that tells classes."""

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

    def predict_proba(self, x: Any, batch_size: int | None = None, verbose: int = 0) -> Any:
        """The same as ``predict``.

        Args:
            x: inputs.
            batch_size: the number of examples in a batch.
            verbose: 1 for a progress bar.

        Returns:
            An array, or arrays in the structure of the outputs.
        """
        model: Any = self
        return model.predict(x, batch_size, verbose)
