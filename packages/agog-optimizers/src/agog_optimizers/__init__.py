"""agog-optimizers: optimizers, and the global step.

>>> import agog_core as ag
>>> from agog_optimizers import GradientDescentOptimizer
>>> w = ag.Variable(1.0)
>>> GradientDescentOptimizer(learning_rate=0.5).apply_gradients([(ag.constant(2.0), w)])
>>> w.numpy()
np.float32(0.0)
"""

from agog_optimizers.adam import AdamOptimizer
from agog_optimizers.global_step import get_global_step, get_or_create_global_step
from agog_optimizers.gradient_descent import GradientDescentOptimizer
from agog_optimizers.momentum import MomentumOptimizer
from agog_optimizers.optimizer import Optimizer

__version__ = "0.1.0"

__all__ = [
    "AdamOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "Optimizer",
    "get_global_step",
    "get_or_create_global_step",
]
