"""``tf.train``: optimizers, checkpoints, and the global step."""

from typing import TYPE_CHECKING

from agog_checkpoint import Checkpoint as Checkpoint
from agog_checkpoint import CheckpointManager as CheckpointManager
from agog_checkpoint import CheckpointReader as _CheckpointReader
from agog_checkpoint import SessionSaver as _SessionSaver
from agog_checkpoint import checkpoint_exists as checkpoint_exists
from agog_checkpoint import checkpoints_iterator as checkpoints_iterator
from agog_checkpoint import generate_checkpoint_state_proto as generate_checkpoint_state_proto
from agog_checkpoint import get_checkpoint_mtimes as get_checkpoint_mtimes
from agog_checkpoint import get_checkpoint_state as get_checkpoint_state
from agog_checkpoint import latest_checkpoint as latest_checkpoint
from agog_checkpoint import list_variables as list_variables
from agog_checkpoint import load_checkpoint as load_checkpoint
from agog_checkpoint import load_tensors as load_tensors
from agog_checkpoint import load_variable as load_variable
from agog_checkpoint import remove_checkpoint as remove_checkpoint
from agog_checkpoint import update_checkpoint_state as update_checkpoint_state
from agog_compat.advice import taught as _taught
from agog_compat.graph_only import Refused as _Refused
from agog_compat.habits import OF_OPTIMIZERS as _OF_OPTIMIZERS
from agog_compat.habits import teach as _teach
from agog_core.exports import Some as _Some
from agog_core.exports import later as _later
from agog_core.variables.global_step import *
from agog_optimizers import AdadeltaOptimizer as AdadeltaOptimizer
from agog_optimizers import AdagradDAOptimizer as AdagradDAOptimizer
from agog_optimizers import AdagradOptimizer as AdagradOptimizer
from agog_optimizers import AdamOptimizer as AdamOptimizer
from agog_optimizers import ExponentialMovingAverage as ExponentialMovingAverage
from agog_optimizers import FtrlOptimizer as FtrlOptimizer
from agog_optimizers import GradientDescentOptimizer as GradientDescentOptimizer
from agog_optimizers import MomentumOptimizer as MomentumOptimizer
from agog_optimizers import Optimizer as Optimizer
from agog_optimizers import ProximalAdagradOptimizer as ProximalAdagradOptimizer
from agog_optimizers import ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer
from agog_optimizers import RMSPropOptimizer as RMSPropOptimizer
from agog_optimizers.cosine_schedules import *
from agog_optimizers.schedules import *
from agog_training.initialization import init_from_checkpoint as init_from_checkpoint

NewCheckpointReader = _CheckpointReader
Saver = _SessionSaver

if TYPE_CHECKING:
    from agog_data.examples.messages import BytesList as BytesList
    from agog_data.examples.messages import Example as Example
    from agog_data.examples.messages import Feature as Feature
    from agog_data.examples.messages import FeatureList as FeatureList
    from agog_data.examples.messages import FeatureLists as FeatureLists
    from agog_data.examples.messages import Features as Features
    from agog_data.examples.messages import FloatList as FloatList
    from agog_data.examples.messages import Int64List as Int64List
    from agog_data.examples.messages import SequenceExample as SequenceExample

# Messages need protobuf, whose import takes milliseconds.
_MESSAGES = _Some(
    "agog_data.examples.messages",
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
)

_teach(Optimizer, _OF_OPTIMIZERS)

__getattr__, __dir__ = _later(__name__, rooms=[_MESSAGES, _Refused("tf.train")])
__getattr__ = _taught(__name__, __getattr__)
