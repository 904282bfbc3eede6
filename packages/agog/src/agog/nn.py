"""``tf.nn``: convolutions, pools, activations, softmax and its losses, dropout, embeddings and recurrent networks."""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_core.exports import Some as _Some
from agog_core.exports import later as _later
from agog_core.ops.array.blocks import batch_to_space as batch_to_space
from agog_core.ops.array.blocks import depth_to_space as depth_to_space
from agog_core.ops.array.blocks import space_to_batch as space_to_batch
from agog_core.ops.array.blocks import space_to_depth as space_to_depth
from agog_core.ops.conv.convolutions import *
from agog_core.ops.conv.depthwise import *
from agog_core.ops.conv.morphology import *
from agog_core.ops.conv.pools import *
from agog_core.ops.conv.pools import avg_pool as avg_pool2d
from agog_core.ops.conv.pools import max_pool as max_pool2d
from agog_core.ops.conv.space_to_batch import *
from agog_core.ops.conv.transposed import *
from agog_core.ops.indexing.embedding import *
from agog_core.ops.math.elementary import log_sigmoid as log_sigmoid
from agog_core.ops.math.elementary import sigmoid as sigmoid
from agog_core.ops.math.elementary import softplus as softplus
from agog_core.ops.math.elementary import tanh as tanh
from agog_core.ops.nn.activations import *
from agog_core.ops.nn.activations import swish as silu
from agog_core.ops.nn.candidates import *
from agog_core.ops.nn.ctc import *
from agog_core.ops.nn.ctc_decoding import *
from agog_core.ops.nn.dropout import *
from agog_core.ops.nn.gelu import *
from agog_core.ops.nn.losses import *
from agog_core.ops.nn.normalization import batch_norm_with_global_normalization as batch_norm_with_global_normalization
from agog_core.ops.nn.normalization import batch_normalization as batch_normalization
from agog_core.ops.nn.normalization import fused_batch_norm as fused_batch_norm
from agog_core.ops.nn.normalization import l2_normalize as l2_normalize
from agog_core.ops.nn.normalization import local_response_normalization as local_response_normalization
from agog_core.ops.nn.normalization import lrn as lrn
from agog_core.ops.nn.softmax import *
from agog_core.ops.nn.weighted_candidates import *
from agog_core.ops.reduce.moments import moments as moments
from agog_core.ops.reduce.moments import normalize_moments as normalize_moments
from agog_core.ops.reduce.moments import sufficient_statistics as sufficient_statistics
from agog_core.ops.reduce.moments import weighted_moments as weighted_moments
from agog_core.ops.reduce.moments import zero_fraction as zero_fraction
from agog_core.ops.sorting.editing import collapse_repeated as collapse_repeated
from agog_core.ops.sorting.sorting import in_top_k as in_top_k
from agog_core.ops.sorting.sorting import top_k as top_k

if TYPE_CHECKING:
    from agog_layers.losses.replica_shares import *
    from agog_layers.recurrent import rnn_cell as rnn_cell
    from agog_layers.recurrent.raw_rnn import raw_rnn as raw_rnn
    from agog_layers.recurrent.recurrence import bidirectional_dynamic_rnn as bidirectional_dynamic_rnn
    from agog_layers.recurrent.recurrence import dynamic_rnn as dynamic_rnn
    from agog_layers.recurrent.recurrence import static_bidirectional_rnn as static_bidirectional_rnn
    from agog_layers.recurrent.recurrence import static_rnn as static_rnn

# Layers are imported when one of these names is asked for.
__getattr__, __dir__ = _later(
    __name__,
    modules={"rnn_cell": "agog_layers.recurrent.rnn_cell"},
    rooms=[
        "agog_layers.losses.replica_shares",
        _Some("agog_layers.recurrent.raw_rnn", "raw_rnn"),
        _Some(
            "agog_layers.recurrent.recurrence",
            "bidirectional_dynamic_rnn",
            "dynamic_rnn",
            "static_bidirectional_rnn",
            "static_rnn",
        ),
    ],
)
__getattr__ = _taught(__name__, __getattr__)
