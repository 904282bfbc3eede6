"""Warning: the category of this package's warnings."""


class CheckpointWarning(UserWarning):
    """A checkpoint holds values that nothing asked for, or its folder is not as it should be; the text names them."""
