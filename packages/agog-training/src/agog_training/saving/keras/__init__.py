"""Keras: models, weights and optimizers from Keras's files."""
