"""``tf.summary``: what TensorBoard shows of a run, and what works in graphs only."""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_compat.graph_only import Refused as _Refused
from agog_core.exports import later as _later
from agog_summary import SummaryWriter as SummaryWriter
from agog_summary import create_file_writer as create_file_writer
from agog_summary import flush as flush
from agog_summary import graph as graph
from agog_summary.tf2 import audio as audio
from agog_summary.tf2 import create_noop_writer as create_noop_writer
from agog_summary.tf2 import histogram as histogram
from agog_summary.tf2 import image as image
from agog_summary.tf2 import record_if as record_if
from agog_summary.tf2 import scalar as scalar
from agog_summary.tf2 import should_record_summaries as should_record_summaries
from agog_summary.tf2 import text as text
from agog_summary.tf2 import write as write

if TYPE_CHECKING:
    from agog.summary import experimental as experimental

__getattr__, __dir__ = _later(
    __name__, modules={"experimental": "agog.summary.experimental"}, rooms=[_Refused("tf.summary")]
)
__getattr__ = _taught(__name__, __getattr__)
