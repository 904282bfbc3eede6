"""Strategies: TensorFlow's, in which every process is one replica."""
