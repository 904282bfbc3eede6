"""``tf.autodiff``: gradients backward by a tape, and forward by an accumulator."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_core.gradients.forward import ForwardAccumulator as ForwardAccumulator
from agog_core.gradients.tape import GradientTape as GradientTape

_export(globals())

__getattr__ = _taught(__name__)
