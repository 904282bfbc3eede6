"""Tf2: functions of TensorFlow 2 over ops, beyond those of TensorFlow 1.12."""
