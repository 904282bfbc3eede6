"""Planning: which steps run, in which order, and where each value lies."""
