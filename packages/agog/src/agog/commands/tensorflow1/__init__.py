"""TensorFlow 1: what lets programs that import it run on agog, unchanged, in a process of their own."""
