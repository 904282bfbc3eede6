"""Gradients: how programs of TensorFlow 2 name what a tape returns for a source that no target depends on."""

__all__ = ["UnconnectedGradients"]


class UnconnectedGradients:
    """What ``tape.gradient(..., unconnected_gradients=...)`` takes."""

    NONE = "none"
    ZERO = "zero"
