"""Weights: initializers, regularizers and constraints."""
