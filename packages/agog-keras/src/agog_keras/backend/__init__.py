"""Backend: functions of ``tf.keras.backend``, for layers and losses of older programs."""
