"""Picture: a tape's records as an SVG from top to bottom, for notebooks."""

from __future__ import annotations

from agog_core.gradients.inspection import picture_of
from agog_core.observers.drawing import svg_of
from agog_core.recording import Recording


def svg_of_tape(tape: Recording) -> str | None:
    """Draw a tape: each op below what it takes, tensors and variables as boxes.

    Args:
        tape: the tape.

    Returns:
        The picture; None if the tape has no records, or more than can be looked at.

    >>> import agog_core as ag
    >>> with ag.GradientTape() as tape:
    ...     pass
    >>> svg_of_tape(tape) is None
    True
    """
    return svg_of(picture_of(tape))
