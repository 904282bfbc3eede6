"""``tf.random``: random numbers, their seeds, and those that depend on nothing but a seed."""

from agog_compat.advice import face as _face
from agog_compat.graph_scopes import get_seed as get_seed
from agog_compat.habits import OF_GENERATORS as _OF_GENERATORS
from agog_compat.habits import teach as _teach
from agog_core.ops.random.distributions import categorical as categorical
from agog_core.ops.random.distributions import multinomial as multinomial
from agog_core.ops.random.distributions import random_gamma as gamma
from agog_core.ops.random.distributions import random_poisson as poisson
from agog_core.ops.random.stateless import stateless_multinomial as stateless_multinomial
from agog_core.ops.random.stateless import stateless_random_normal as stateless_normal
from agog_core.ops.random.stateless import stateless_random_uniform as stateless_uniform
from agog_core.ops.random.stateless import stateless_truncated_normal as stateless_truncated_normal
from agog_core.ops.random.uniform_and_normal import random_normal as normal
from agog_core.ops.random.uniform_and_normal import random_shuffle as shuffle
from agog_core.ops.random.uniform_and_normal import random_uniform as uniform
from agog_core.ops.random.uniform_and_normal import truncated_normal as truncated_normal
from agog_core.random import *
from agog_core.random import set_random_seed as set_seed

_face(globals())

_teach(Generator, _OF_GENERATORS)
