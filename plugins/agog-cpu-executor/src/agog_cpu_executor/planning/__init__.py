"""Planning: dead steps, the order of steps, and the places of values in memory."""
