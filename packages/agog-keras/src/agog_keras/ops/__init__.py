"""Ops: functions of ``tf.keras.ops`` with other arguments, dtypes or orders than agog's ops."""

from agog_keras.ops import reductions as reductions
