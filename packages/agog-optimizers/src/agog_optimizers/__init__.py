"""agog-optimizers: optimizers, schedules of the learning rate, averages of variables, and the global step.

>>> import agog_core as ag
>>> from agog_optimizers import GradientDescentOptimizer
>>> w = ag.Variable(1.0)
>>> GradientDescentOptimizer(learning_rate=0.5).apply_gradients([(ag.constant(2.0), w)])
>>> w.numpy()
np.float32(0.0)
"""

from agog_core.exports import export as _export
from agog_core.variables.global_step import create_global_step as create_global_step
from agog_core.variables.global_step import get_global_step as get_global_step
from agog_core.variables.global_step import get_or_create_global_step as get_or_create_global_step
from agog_optimizers.accumulator import *
from agog_optimizers.adadelta import *
from agog_optimizers.adagrad import *
from agog_optimizers.adagrad_da import *
from agog_optimizers.adam import *
from agog_optimizers.adamax import *
from agog_optimizers.adamw import *
from agog_optimizers.amsgrad import *
from agog_optimizers.cosine_schedules import *
from agog_optimizers.ftrl import *
from agog_optimizers.gradient_descent import *
from agog_optimizers.lamb import *
from agog_optimizers.lazy_adam import *
from agog_optimizers.lion import *
from agog_optimizers.loss_scale import *
from agog_optimizers.mixed_precision import *
from agog_optimizers.momentum import *
from agog_optimizers.momentumw import *
from agog_optimizers.moving_average import *
from agog_optimizers.nadam import *
from agog_optimizers.optimizer import *
from agog_optimizers.proximal_adagrad import *
from agog_optimizers.proximal_gradient_descent import *
from agog_optimizers.rmsprop import *
from agog_optimizers.schedules import *
from agog_optimizers.weight_averages import *
from agog_optimizers.weight_decay import *

__version__ = "0.1.0"
_export(globals())
