"""``tf.array_api``: the Python array API standard on tensors, which is `agog_core.array_api` itself."""

import sys

from agog_compat.advice import taught as _taught
from agog_core.array_api import *
from agog_core.array_api import __array_api_version__ as __array_api_version__
from agog_core.array_api import __array_namespace_info__ as __array_namespace_info__
from agog_core.array_api import fft as fft
from agog_core.array_api import linalg as linalg

# A module that were only equal would be another than the one that tensors name as theirs.
for _name, _module in list(sys.modules.items()):
    if f"{_name}.".startswith("agog_core.array_api."):
        sys.modules[_name.replace("agog_core", "agog", 1)] = _module

__getattr__ = _taught(__name__)
