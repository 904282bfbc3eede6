"""Math: kernels of elementwise arithmetic and special functions."""

KERNELS = {
    "arithmetic": ("add_n", "cross", "floordiv", "floormod", "squared_difference"),
    "bitwise": ("left_shift", "right_shift"),
    "division": ("div_no_nan", "reciprocal", "truncatediv", "truncatemod"),
    "elementary": ("pow", "rsqrt", "sigmoid", "sigmoid_grad", "softplus", "tanh_grad"),
    "logic": ("argwhere", "masked", "where"),
    "special": (
        "bessel_i0e",
        "bessel_i1e",
        "betainc",
        "digamma",
        "erf",
        "erfc",
        "igamma",
        "igammac",
        "lgamma",
        "polygamma",
        "zeta",
    ),
}
