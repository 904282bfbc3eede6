"""``tf.linalg``: products, factorizations, systems of equations, determinants and norms of matrices."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.matrices import matvec, normalize, pinv
from agog_core import cross, eye
from agog_core import diag as tensor_diag
from agog_core import diag_part as tensor_diag_part
from agog_core import matrix_band_part as band_part
from agog_core import matrix_diag as diag
from agog_core import matrix_diag_part as diag_part
from agog_core import matrix_set_diag as set_diag
from agog_core.ops.linalg.determinant import log_matrix_determinant as slogdet
from agog_core.ops.linalg.determinant import logdet
from agog_core.ops.linalg.determinant import matrix_determinant as det
from agog_core.ops.linalg.einsum import einsum, tensordot
from agog_core.ops.linalg.factorization import cholesky, cholesky_solve, qr
from agog_core.ops.linalg.least_squares import matrix_solve_ls as lstsq
from agog_core.ops.linalg.matmul import adjoint, matmul, trace
from agog_core.ops.linalg.matmul import matrix_transpose as transpose
from agog_core.ops.linalg.matrix_functions import matrix_exponential as expm
from agog_core.ops.linalg.matrix_functions import matrix_logarithm as logm
from agog_core.ops.linalg.matrix_functions import matrix_square_root as sqrtm
from agog_core.ops.linalg.norm import norm
from agog_core.ops.linalg.solving import matrix_inverse as inv
from agog_core.ops.linalg.solving import matrix_solve as solve
from agog_core.ops.linalg.solving import matrix_triangular_solve as triangular_solve
from agog_core.ops.linalg.spectra import self_adjoint_eig as eigh
from agog_core.ops.linalg.spectra import self_adjoint_eigvals as eigvalsh
from agog_core.ops.linalg.spectra import svd
from agog_core.ops.nn.normalization import l2_normalize
from agog_core.ops.reduce.norm_clipping import global_norm

__all__ = [
    "adjoint",
    "band_part",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eigh",
    "eigvalsh",
    "einsum",
    "expm",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "logm",
    "lstsq",
    "matmul",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "sqrtm",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "transpose",
    "triangular_solve",
]

__getattr__ = _taught(__name__)
