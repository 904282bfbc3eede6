"""``tf.manip``: moving the elements of tensors around."""

from agog_compat.advice import face as _face
from agog_core import batch_to_space_nd as batch_to_space_nd
from agog_core import gather_nd as gather_nd
from agog_core import reshape as reshape
from agog_core import reverse as reverse
from agog_core import roll as roll
from agog_core import scatter_nd as scatter_nd
from agog_core import space_to_batch_nd as space_to_batch_nd
from agog_core import tile as tile

_face(globals())
