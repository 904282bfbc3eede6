"""agog-checkpoint: object graphs saved as safetensors files, whole after a crash at any instant.

>>> import tempfile
>>> import agog_core as ag
>>> v = ag.Variable(1.0)
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Checkpoint(v=v).save(f"{folder}/ckpt")
...     _ = v.assign(2.0)
...     _ = Checkpoint(v=v).restore(latest_checkpoint(folder)).assert_consumed()
>>> v
<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=1.0>
"""

from agog_checkpoint.checkpoint import Checkpoint
from agog_checkpoint.checkpointable_saver import CheckpointableSaver
from agog_checkpoint.folders import (
    CheckpointState,
    checkpoints_iterator,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    remove_checkpoint,
    update_checkpoint_state,
)
from agog_checkpoint.manager import CheckpointManager
from agog_checkpoint.pointer import latest_checkpoint
from agog_checkpoint.python_state import NumpyState, PythonState, PythonStateWrapper
from agog_checkpoint.reader import CheckpointReader, checkpoint_exists, list_variables, load_checkpoint, load_variable
from agog_checkpoint.saver import Saver, restore_variables_on_create
from agog_checkpoint.session_saver import SessionSaver
from agog_checkpoint.status import CheckpointLoadStatus, InitializationOnlyStatus
from agog_checkpoint.tensors import load_tensors
from agog_checkpoint.warning import CheckpointWarning

__version__ = "0.1.0"

__all__ = [
    "Checkpoint",
    "CheckpointLoadStatus",
    "CheckpointManager",
    "CheckpointReader",
    "CheckpointState",
    "CheckpointWarning",
    "CheckpointableSaver",
    "InitializationOnlyStatus",
    "NumpyState",
    "PythonState",
    "PythonStateWrapper",
    "Saver",
    "SessionSaver",
    "checkpoint_exists",
    "checkpoints_iterator",
    "generate_checkpoint_state_proto",
    "get_checkpoint_mtimes",
    "get_checkpoint_state",
    "latest_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_tensors",
    "load_variable",
    "remove_checkpoint",
    "restore_variables_on_create",
    "update_checkpoint_state",
]
