"""Gradients: averages over all processes, made where a tape gives the gradients."""
