"""``agog.eager``, or ``tfe``: what TensorFlow 1.12 has in ``tf.contrib.eager``."""

from typing import TYPE_CHECKING

import agog_summary as _agog_summary  # so that metrics and evaluators can write summaries
from agog_checkpoint import Checkpoint as Checkpoint
from agog_checkpoint import CheckpointableSaver as CheckpointableSaver
from agog_checkpoint import Saver as Saver
from agog_checkpoint import restore_variables_on_create as restore_variables_on_create
from agog_compat.advice import taught as _taught
from agog_compat.app import *
from agog_compat.execution import *
from agog_compat.graph_only import Refused as _Refused
from agog_compat.testing import *
from agog_core.checkpointable import *
from agog_core.dispatch.devices.lookup import list_devices as list_devices
from agog_core.exports import later as _later
from agog_core.gradients.forward import *
from agog_core.gradients.functions import *
from agog_core.gradients.inspection import *
from agog_core.gradients.recompute import *
from agog_core.gradients.tape import *
from agog_core.observers.callbacks import *
from agog_core.ops.control.py_func import eager_py_func as _eager_py_func
from agog_core.tensors.placement import *
from agog_core.tensors.tensor_spec import *
from agog_core.variables.variable import *
from agog_data import Iterator as Iterator
from agog_layers import EagerVariableStore as EagerVariableStore
from agog_layers import Network as Network
from agog_layers import make_template as make_template
from agog_layers import metrics as metrics
from agog_layers.metrics.evaluator import *
from agog_layers.models.network import Sequential as Sequential
from agog_optimizers.optimizer import get_optimizer_variables as get_optimizer_variables
from agog_training.network_checkpoint import *

py_func = _eager_py_func

if TYPE_CHECKING:
    from agog_compat.defun import *

__getattr__, __dir__ = _later(
    __name__, modules={"metrics": "agog_layers.metrics"}, rooms=["agog_compat.defun", _Refused("tfe")]
)
__getattr__ = _taught(__name__, __getattr__)
