"""``tf.contrib.checkpoint``: objects whose state can be saved, and the graph of what a checkpoint holds."""

from agog_checkpoint import CheckpointManager as CheckpointManager
from agog_checkpoint import NumpyState as NumpyState
from agog_checkpoint import PythonState as PythonState
from agog_checkpoint import PythonStateWrapper as PythonStateWrapper
from agog_checkpoint.metadata import CheckpointableObjectGraph as CheckpointableObjectGraph
from agog_checkpoint.metadata import dot_graph_from_checkpoint as dot_graph_from_checkpoint
from agog_checkpoint.metadata import list_objects as list_objects
from agog_checkpoint.metadata import object_metadata as object_metadata
from agog_checkpoint.split_dependency import split_dependency as split_dependency
from agog_compat.advice import face as _face
from agog_core import Checkpointable as Checkpointable
from agog_core import Checkpointable as CheckpointableBase
from agog_core.checkpointable import NoDependency as NoDependency
from agog_core.variables.containers import *

_face(globals())
