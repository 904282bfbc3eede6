"""Tapes: traced functions under tapes and accumulators, and the walks back over what these have recorded."""
