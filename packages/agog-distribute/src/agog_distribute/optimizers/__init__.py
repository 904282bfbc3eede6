"""Optimizers: one whose gradients are those of all processes, and whose state they share."""
