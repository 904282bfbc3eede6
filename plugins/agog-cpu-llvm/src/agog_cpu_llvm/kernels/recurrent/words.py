"""Words: the names of what compiled recurrent layers are told, in the order in which they are."""

SIZES = ("times", "batch", "features", "units", "groups", "activation", "gate")
"""The words that all entries have; the last two are the numbers of activation functions."""

INPUTS = ("x", "x_time", "x_row", "kernel", "bias", "block")
"""The words of the product of the inputs; ``block`` is how many times are multiplied at once."""

PART = ("mask", "mask_time", "mask_row", "chunk", "chunks")
"""The words of the examples that a turn computes: ``chunk`` of them, and at most ``chunks`` turns."""

BACK = ("start", "errors")
"""The words of what goes back through some of the times, from the last one to ``start``; the errors are of these."""

TO_X = ("to_x", "input_kernel", "zeros")
"""The words of the gradient of the inputs; ``to_x`` is null where it is not wanted."""

SUMS = (
    *("x", "x_time", "x_row", "hidden", "hiddens", "hiddens_time", "hiddens_row", "one"),
    *("to_kernel", "to_recurrent", "to_bias", "block_times", "block_rows", "span", "spans"),
)
"""The words of the sums that are gradients of weights, null where they are not wanted. They are over blocks of times
and examples; a turn has ``span`` groups of units, so that a block stays in a cache for all of them."""

ACTIVATIONS = ("tanh", "sigmoid", "hard_sigmoid", "relu", "linear")
"""The activation functions; the number of one is its place."""
