"""Exceptions: samples of which onnxruntime does not compute what agog does, by op, with reasons.

A pattern is for the dtype and the name of samples, such as ``"float32 NaN*"``. The ops of `agog_export.rules.REASONS`
have their reasons there.
"""

_NAN = "onnxruntime treats NaN in another way"
_MASK = "ONNX's recurrent operators take no mask"
_CRASH = "onnxruntime's recurrent operators crash without times, examples or features"
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
    "bincount": {"*": "its length is that of the largest value, which Python decides"},
    "gru": _RECURRENT,
    "lstm": _RECURRENT,
    "sum_to": {"float32 many tenths": "onnxruntime adds in another order, and loses more"},
    "unique_with_counts": {"float32 NaN and infinities": _NAN},
    "unsorted_segment_max": {"float32 NaN and infinities": _NAN},
    "unsorted_segment_min": {"float32 NaN and infinities": _NAN},
}
