"""Linalg: products, factorizations and solvers of matrices."""

from agog_core.exports import export as _export
from agog_core.ops.linalg import eigenvalues as _eigenvalues  # its functions are in agog.array_api only
from agog_core.ops.linalg.determinant import *
from agog_core.ops.linalg.diagonal import *
from agog_core.ops.linalg.einsum import *
from agog_core.ops.linalg.factorization import *
from agog_core.ops.linalg.least_squares import *
from agog_core.ops.linalg.matmul import *
from agog_core.ops.linalg.matrix_functions import *
from agog_core.ops.linalg.norm import *
from agog_core.ops.linalg.solving import *
from agog_core.ops.linalg.spectra import *

# The functions of `pseudoinverse` and `vectors` are in tf.linalg only, which imports them.
_export(globals())
