"""``tf.linalg``: products, factorizations, systems of equations, determinants and norms of matrices."""

from agog_compat.advice import face as _face
from agog_core import cross as cross
from agog_core import diag as tensor_diag
from agog_core import diag_part as tensor_diag_part
from agog_core import eye as eye
from agog_core import matrix_band_part as band_part
from agog_core import matrix_diag as diag
from agog_core import matrix_diag_part as diag_part
from agog_core import matrix_set_diag as set_diag
from agog_core.ops.linalg.determinant import log_matrix_determinant as slogdet
from agog_core.ops.linalg.determinant import logdet as logdet
from agog_core.ops.linalg.determinant import matrix_determinant as det
from agog_core.ops.linalg.einsum import *
from agog_core.ops.linalg.factorization import *
from agog_core.ops.linalg.least_squares import matrix_solve_ls as lstsq
from agog_core.ops.linalg.matmul import adjoint as adjoint
from agog_core.ops.linalg.matmul import matmul as matmul
from agog_core.ops.linalg.matmul import matrix_transpose as transpose
from agog_core.ops.linalg.matmul import trace as trace
from agog_core.ops.linalg.matrix_functions import matrix_exponential as expm
from agog_core.ops.linalg.matrix_functions import matrix_logarithm as logm
from agog_core.ops.linalg.matrix_functions import matrix_square_root as sqrtm
from agog_core.ops.linalg.norm import norm as norm
from agog_core.ops.linalg.pseudoinverse import *
from agog_core.ops.linalg.solving import matrix_inverse as inv
from agog_core.ops.linalg.solving import matrix_solve as solve
from agog_core.ops.linalg.solving import matrix_triangular_solve as triangular_solve
from agog_core.ops.linalg.spectra import self_adjoint_eig as eigh
from agog_core.ops.linalg.spectra import self_adjoint_eigvals as eigvalsh
from agog_core.ops.linalg.spectra import svd as svd
from agog_core.ops.linalg.vectors import *
from agog_core.ops.nn.normalization import l2_normalize as l2_normalize
from agog_core.ops.reduce.norm_clipping import global_norm as global_norm

_face(globals())
