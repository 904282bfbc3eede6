"""Gradients: ``tf.UnconnectedGradients``, a tape's result for unconnected sources."""

__all__ = ["UnconnectedGradients"]


class UnconnectedGradients:
    """What ``tape.gradient(..., unconnected_gradients=...)`` takes."""

    NONE = "none"
    ZERO = "zero"
