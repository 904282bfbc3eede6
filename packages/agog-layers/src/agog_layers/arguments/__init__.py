"""Arguments: checks of arguments, and the signatures of functions."""
