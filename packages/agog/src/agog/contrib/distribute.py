"""``tf.contrib.distribute``: TensorFlow 1's strategies, by agog-distribute; see `agog.distribute`."""

import agog.distribute as _needed  # which says what to install where it is missing
from agog_compat.advice import face as _face
from agog_distribute.strategies.context import get_replica_context as get_replica_context
from agog_distribute.strategies.context import get_strategy as get_distribution_strategy
from agog_distribute.strategies.context import has_strategy as has_distribution_strategy
from agog_distribute.strategies.kinds import CollectiveAllReduceStrategy as CollectiveAllReduceStrategy
from agog_distribute.strategies.kinds import MirroredStrategy as MirroredStrategy
from agog_distribute.strategies.kinds import OneDeviceStrategy as OneDeviceStrategy
from agog_distribute.strategies.strategy import Strategy as DistributionStrategy

_face(globals())
