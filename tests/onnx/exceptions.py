"""Exceptions: samples of which onnxruntime does not compute what agog does, by op, with reasons.

A pattern is for the dtype and the name of samples, such as ``"float32 NaN*"``. The ops of `agog_export.rules.REASONS`
have their reasons there.
"""

_NAN = "onnxruntime treats NaN in another way"
_NO_CHANNELS = "onnxruntime takes no images without channels"
_MASK = "ONNX's recurrent operators take no mask"
_CRASH = "onnxruntime's recurrent operators crash without times, examples or features"
_MISSING = {"*": "there is no rule yet"}
_RECURRENT = {
    "* mask": _MASK,
    "* sigmoids": _MASK,
    "* odd sizes": _MASK,
    "* no time": _CRASH,
    "* no example": _CRASH,
    "* no feature": _CRASH,
    "* not a number*": _NAN,
}

EXCEPTIONS: dict[str, dict[str, str]] = {
    "argmax": {"float32 NaN": _NAN},
    "argmin": {"float32 NaN": _NAN},
    "avg_pool": {"float32 no channels": _NO_CHANNELS},
    "bincount": {"*": "its length is that of the largest value, which Python decides"},
    "gru": _RECURRENT,
    "lstm": _RECURRENT,
    "max_pool": {"float32 no channels": _NO_CHANNELS, "int*": "ONNX has no pools of integers"},
    "sum_to": {"float32 many tenths": "onnxruntime adds in another order, and loses more"},
    "unsorted_segment_max": {"float32 NaN and infinities": _NAN},
    "unsorted_segment_min": {"float32 NaN and infinities": _NAN},
    **dict.fromkeys(
        (
            *("add_along", "add_image_patches", "bessel_i0e", "bessel_i1e", "bitcast", "cumprod", "dynamic_partition"),
            *("dynamic_stitch", "extract_image_patches", "frame", "invert_permutation", "linear_recurrence"),
            *("max_pool_with_argmax", "neighbor_sum", "non_max_suppression", "overlap_and_add", "resample"),
            *("reverse_sequence", "searchsorted", "setdiff1d", "unique_with_counts", "unravel_index"),
        ),
        _MISSING,
    ),
}
