"""Ops: functions of ``tf.keras.ops`` that no op is with the same arguments, dtypes or order."""

from agog_keras.ops import reductions as reductions
