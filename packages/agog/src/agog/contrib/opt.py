"""``tf.contrib.opt``: further optimizers, some of them newer than TensorFlow 1.12: AMSGrad, LAMB, Lion, SWA."""

from agog_compat.advice import face as _face
from agog_optimizers import AdaMaxOptimizer as AdaMaxOptimizer
from agog_optimizers import AdamWOptimizer as AdamWOptimizer
from agog_optimizers import AMSGradOptimizer as AMSGradOptimizer
from agog_optimizers import GradientAccumulator as GradientAccumulator
from agog_optimizers import LAMBOptimizer as LAMBOptimizer
from agog_optimizers import LazyAdamOptimizer as LazyAdamOptimizer
from agog_optimizers import LionOptimizer as LionOptimizer
from agog_optimizers import MomentumWOptimizer as MomentumWOptimizer
from agog_optimizers import NadamOptimizer as NadamOptimizer
from agog_optimizers.weight_averages import *
from agog_optimizers.weight_decay import *

_face(globals())
