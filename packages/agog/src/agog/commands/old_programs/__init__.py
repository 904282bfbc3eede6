"""Old programs: what lets programs that import TensorFlow 1 run on agog, unchanged, in a process of their own."""
