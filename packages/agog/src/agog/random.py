"""``tf.random``: random numbers, their seeds, and those that depend on nothing but a seed."""

from agog_compat.advice import taught as _taught
from agog_compat.graph_scopes import get_seed
from agog_compat.habits import OF_GENERATORS as _OF_GENERATORS
from agog_compat.habits import teach as _teach
from agog_core.ops.random.distributions import categorical, multinomial
from agog_core.ops.random.distributions import random_gamma as gamma
from agog_core.ops.random.distributions import random_poisson as poisson
from agog_core.ops.random.stateless import stateless_multinomial, stateless_truncated_normal
from agog_core.ops.random.stateless import stateless_random_normal as stateless_normal
from agog_core.ops.random.stateless import stateless_random_uniform as stateless_uniform
from agog_core.ops.random.uniform_and_normal import random_normal as normal
from agog_core.ops.random.uniform_and_normal import random_shuffle as shuffle
from agog_core.ops.random.uniform_and_normal import random_uniform as uniform
from agog_core.ops.random.uniform_and_normal import truncated_normal
from agog_core.random import Generator, generator, set_generator, set_random_seed
from agog_core.random import set_random_seed as set_seed

__all__ = [
    "Generator",
    "categorical",
    "gamma",
    "generator",
    "get_seed",
    "multinomial",
    "normal",
    "poisson",
    "set_generator",
    "set_random_seed",
    "set_seed",
    "shuffle",
    "stateless_multinomial",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]

_teach(Generator, _OF_GENERATORS)

__getattr__ = _taught(__name__)
