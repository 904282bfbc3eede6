"""Gradients: the tape, the backward pass, forward mode, and their inspection."""
