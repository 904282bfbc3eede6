"""Callbacks: hooks into a training, which may write, stop, or change it."""

from agog_core.exports import export as _export
from agog_training.callbacks.backup import *
from agog_training.callbacks.callback import *
from agog_training.callbacks.csv_logger import *
from agog_training.callbacks.learning_rates import *
from agog_training.callbacks.monitors import *
from agog_training.callbacks.progress import *
from agog_training.callbacks.tensor_board import *

_export(globals())
