"""``tf.autodiff``: gradients backward by a tape, and forward by an accumulator."""

from agog_compat.advice import taught as _taught
from agog_core.gradients.forward import ForwardAccumulator
from agog_core.gradients.tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]

__getattr__ = _taught(__name__)
