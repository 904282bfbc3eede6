"""Glossary: what attributes of ops mean that users do not meet under these names, for those who write kernels."""

from __future__ import annotations

ATTRIBUTES = {
    "activation": "the name of the function of the candidate values",
    "align_corners": "whether the corners of both images are at the same places",
    "alpha": "the slope for negative numbers",
    "approximate": "whether the probability is that of a formula with tanh",
    "axes": "the axes, none of them negative, in ascending order",
    "axis": "the axis, not negative",
    "beta1": "what is left in a step of the mean of the gradients",
    "beta2": "what is left in a step of the mean of their squares",
    "columns": "how many columns there are",
    "correction": "what the direction is multiplied by, for the first steps have seen few gradients",
    "count": "how many numbers there are",
    "decay": "what is left in a step of the running means",
    "descending": "whether the largest comes first",
    "dilations": "for each axis that windows slide over, the distance of a window's elements",
    "dtype": "the name of the result's dtype",
    "epsilon": "what is added so that nothing is divided by 0",
    "filter_shape": "the shape of the filter",
    "form": "a format of C's printf; for complex numbers one for both parts",
    "groups": "how many equal parts the channels and the outputs have; each has only itself as source",
    "high": "what the numbers are less than",
    "images_shape": "the shape of the images",
    "index": "the number of the device",
    "input_shape": "the shape of the input",
    "is_complex": "whether the numbers are complex",
    "keep": "the share of the elements that are kept",
    "keepdims": "whether the reduced axes are kept, with size 1",
    "key": "two words of a key and the first value of the counter, for Philox4x64-10",
    "l1": "the weight of the regularization by absolute values",
    "l2": "the weight of the regularization by squares",
    "l2_shrinkage": "the weight of a regularization by squares that the sums of squared gradients do not see",
    "learning_rate": "how far a step goes",
    "learning_rate_power": "the power of the sums of squared gradients by which the learning rate falls; not positive",
    "length": "how many elements a frame has",
    "lengths": "the sizes of the last axes of the result, as many as are transformed",
    "low": "the least number",
    "merge_repeated": "whether a label that comes twice in succession counts once",
    "method": '"nearest", "bilinear", "bicubic" or "area"',
    "momentum": "what is left in a step of the steps before",
    "operation": '"update" to replace, or the name of what combines, such as "add"',
    "paddings": "for each axis that windows slide over, how many zeros stand before and after; pools leave them out",
    "radius": "how many neighbours on each side count",
    "rank": "how many axes are transformed, the last ones",
    "recurrent_activation": "the name of the function of the gates",
    "reset_after": "whether the reset gate is applied after the product with the recurrent kernel",
    "reverse": "whether it goes from the end to the start",
    "rho": "what is left in a step of the running means",
    "rounds": "how often a number is drawn, at most, until one is accepted",
    "rows": "how many rows there are",
    "scale": "what the other tensor is multiplied by",
    "shape": "the shape of the result",
    "size": "how many elements the result has, in each row where it has rows",
    "sizes": "the sizes of the parts along the axis",
    "sources": "the names of the inputs whose gradients are asked for, in the order in which they are returned",
    "step": "by how many elements each frame starts after the one before",
    "strides": "for each axis that windows slide over, how far they move",
    "use_nesterov": "whether the gradient is taken where the momentum leads to",
    "value": "what is put there",
    "weight_decay": "what share of the variable is taken away in a step",
    "window": "for each axis that windows slide over, how many elements a window has",
    # of one op
    "apply_adagrad_da.step": "the number of the step",
    "apply_adamax.beta2": "what is left in a step of the largest gradient",
    "apply_lamb.weight_decay": "what multiple of the variable is added to the direction",
    "apply_lion.beta1": "what the direction has of the mean of the gradients",
    "apply_lion.beta2": "what is left in a step of the mean of the gradients",
    "apply_lion.weight_decay": "what share of the variable is taken away in a step, times the learning rate",
    "apply_nadam.gradient_share": "how often the gradient is in the direction",
    "apply_nadam.mean_share": "how often the mean of the gradients is in the direction",
    "assign_slice.key": "for each axis an index, or (start, stop, step)",
    "resample.size": "height and width of the result",
    "strided_slice.key": "for each axis an index, or (start, stop, step); None for a new axis",
    "strided_slice_grad.key": "for each axis an index, or (start, stop, step); None for a new axis",
}
"""What an attribute is by its name, or by ``op.name`` where it is something else there."""


def meaning(op: str, attribute: str) -> str | None:
    """What an attribute of an op is, or None where nothing is known.

    >>> meaning("convolution", "strides"), meaning("convolution", "colour")
    ('for each axis that windows slide over, how far they move', None)
    """
    return ATTRIBUTES.get(f"{op}.{attribute}") or ATTRIBUTES.get(attribute)
