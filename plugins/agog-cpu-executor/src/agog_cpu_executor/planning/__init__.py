"""Planning: dead-step elimination, the schedule of steps, and the allocation of memory."""
