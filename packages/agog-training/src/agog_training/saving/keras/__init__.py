"""Keras: models, weights and optimizers out of files that Keras has written."""
