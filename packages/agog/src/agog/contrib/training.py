"""``tf.contrib.training``: what a program's settings are kept in, and waiting for checkpoints."""

from agog_checkpoint import checkpoints_iterator
from agog_compat.advice import taught as _taught
from agog_compat.hparams import HParams

__all__ = ["HParams", "checkpoints_iterator"]

__getattr__ = _taught(__name__)
