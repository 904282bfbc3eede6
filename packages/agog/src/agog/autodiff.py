"""``tf.autodiff``: gradients backward by a tape, and forward by an accumulator."""

from agog_compat.advice import face as _face
from agog_core.gradients.forward import ForwardAccumulator as ForwardAccumulator
from agog_core.gradients.tape import GradientTape as GradientTape

_face(globals())
