"""Missing: the ops with kernels beyond the standard, with reasons."""

from agog_kernels_xp.math import KERNELS as _MATH
from agog_kernels_xp.nn import KERNELS as _NN
from agog_kernels_xp.strings import KERNELS as _STRINGS

_BITS = "it computes with the bits of floats, and the standard cannot show them"

MISSING = {
    **dict.fromkeys(("bitcast", "multinomial", "random_gamma", "random_normal", "random_poisson"), _BITS),
    "truncated_normal": _BITS,
    **dict.fromkeys(_NN["gelu"], "it computes with a special function of SciPy, and the standard has none of these"),
    **dict.fromkeys(_MATH["special"], "it is a special function of SciPy, and the standard has none of these"),
    "matrix_logarithm": "it begins with the Schur form, which the standard does not compute",
    "matrix_triangular_solve": "the standard has no solver for triangular matrices",
    **dict.fromkeys((op for ops in _STRINGS.values() for op in ops), "the standard has no strings"),
}
"""Op name to the reason why it has no kernel on a library that has the standard's interface alone."""
