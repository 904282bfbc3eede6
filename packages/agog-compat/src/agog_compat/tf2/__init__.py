"""Tf2: what programs of TensorFlow 2 call that TensorFlow 1.12 has not, over the ops that there are."""
