"""Calls: the learning phase, masks and the shapes of inputs."""
