"""``tf.debugging``: checks of values, shapes and dtypes."""

from agog_compat.advice import face as _face
from agog_core.ops.control.assertions import *
from agog_core.ops.control.check_numerics import check_numerics as check_numerics
from agog_core.ops.control.check_numerics import verify_tensor_all_finite as assert_all_finite
from agog_core.ops.control.rank_assertions import *
from agog_core.ops.math.logic import is_finite as is_finite
from agog_core.ops.math.logic import is_inf as is_inf
from agog_core.ops.math.logic import is_nan as is_nan

_face(globals())
