"""TensorFlow 1: a process in which unchanged programs for TensorFlow 1 run on agog."""
