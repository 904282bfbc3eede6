"""``tf.contrib.training``: what a program's settings are kept in, and waiting for checkpoints."""

from agog_checkpoint import checkpoints_iterator as checkpoints_iterator
from agog_compat.advice import face as _face
from agog_compat.hparams import HParams as HParams

_face(globals())
