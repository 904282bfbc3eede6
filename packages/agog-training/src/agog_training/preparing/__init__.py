"""Preparing: preprocessing on the host: images, texts, sequences, labels, plots."""
