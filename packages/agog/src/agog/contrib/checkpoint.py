"""``tf.contrib.checkpoint``: objects whose state can be saved, and the graph of what a checkpoint holds."""

from agog_checkpoint import CheckpointManager, NumpyState, PythonState, PythonStateWrapper
from agog_checkpoint.metadata import (
    CheckpointableObjectGraph,
    dot_graph_from_checkpoint,
    list_objects,
    object_metadata,
)
from agog_checkpoint.split_dependency import split_dependency
from agog_compat.advice import taught as _taught
from agog_core import Checkpointable
from agog_core import Checkpointable as CheckpointableBase
from agog_core.checkpointable import NoDependency
from agog_core.variables.containers import List, Mapping, UniqueNameTracker

__all__ = [
    "CheckpointManager",
    "Checkpointable",
    "CheckpointableBase",
    "CheckpointableObjectGraph",
    "List",
    "Mapping",
    "NoDependency",
    "NumpyState",
    "PythonState",
    "PythonStateWrapper",
    "UniqueNameTracker",
    "dot_graph_from_checkpoint",
    "list_objects",
    "object_metadata",
    "split_dependency",
]

__getattr__ = _taught(__name__)
