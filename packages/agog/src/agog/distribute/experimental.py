"""``tf.distribute.experimental``: strategies and options under their older names."""

from agog_compat.advice import face as _face
from agog_distribute.strategies.kinds import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from agog_distribute.strategies.options import CollectiveCommunication as CollectiveCommunication
from agog_distribute.strategies.options import CommunicationImplementation as CommunicationImplementation
from agog_distribute.strategies.options import CommunicationOptions as CommunicationOptions
from agog_distribute.strategies.options import CommunicationOptions as _CommunicationOptions
from agog_distribute.strategies.strategy import ValueContext as ValueContext

CollectiveHints = _CommunicationOptions

_face(globals())
