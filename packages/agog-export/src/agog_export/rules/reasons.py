"""Reasons: why ops have no rule."""

_FACTORIZATION = "ONNX has no factorizations of matrices and no solvers"
_SPECIAL = "ONNX has no such special function"
_COMPLEX = "ONNX's operators take no complex numbers"
_STRING = "strings are no tensors of ONNX's models; export what follows their encoding"

REASONS = {
    **dict.fromkeys(
        (
            *("cholesky", "eig", "eigvals", "matrix_exponential", "matrix_inverse", "matrix_logarithm", "matrix_solve"),
            *("matrix_solve_ls", "matrix_square_root", "matrix_triangular_solve", "qr", "self_adjoint_eig"),
            *("self_adjoint_eigvals", "singular_values", "svd"),
        ),
        _FACTORIZATION,
    ),
    **dict.fromkeys(("betainc", "igamma", "igammac", "polygamma", "zeta"), _SPECIAL),
    "bitcast": "ONNX's operators of the opset that is written do not see bytes",
    **dict.fromkeys(("complex", "conj", "fft", "ifft", "imag", "irfft", "real", "rfft"), _COMPLEX),
    **dict.fromkeys(("ctc_beam_search_decoder", "ctc_greedy_decoder", "ctc_loss"), "ONNX has no CTC"),
    **dict.fromkeys(("as_string", "decode_base64", "decode_raw", "encode_base64", "fingerprint"), _STRING),
}
