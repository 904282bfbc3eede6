"""``tf.contrib.training``: what a program's settings are kept in, and waiting for checkpoints."""

from agog_checkpoint import checkpoints_iterator as checkpoints_iterator
from agog_compat.advice import taught as _taught
from agog_compat.hparams import HParams as HParams
from agog_core.exports import export as _export

_export(globals())

__getattr__ = _taught(__name__)
