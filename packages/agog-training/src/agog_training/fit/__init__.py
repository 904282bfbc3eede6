"""Fit: the loops of `fit`, `evaluate` and `predict`, from epochs to batches, losses and metrics."""
