"""Square checks: the checks of a kernel of the op `square`, which stand for those of any kernel in these tests."""

CHECKS = (
    *("value", "inputs", "surroundings", "repeated", "threads", "leaks", "sizes", "large", "denormals", "type"),
    *("shape", "dtype", "memory", "state", "variables", "shortcuts", "aliasing", "strides", "same_array", "bounds"),
    *("gradient", "forward", "linear", "errors"),
)
"""For float32, in order."""

COUNT = len(CHECKS)
COUNT_OF_INT8 = COUNT - 6
"""Integers have no derivatives and no denormal numbers, and the large and the wrong calls are of float32."""
