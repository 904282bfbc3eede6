"""Backend: functions of ``tf.keras.backend`` that layers and losses of older programs are written with."""
