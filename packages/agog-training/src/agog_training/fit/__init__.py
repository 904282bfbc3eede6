"""Fit: what `fit`, `evaluate` and `predict` do, from epochs down to batches, losses and metrics."""
