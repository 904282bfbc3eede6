"""Variables: mutable values, their rows and names."""
