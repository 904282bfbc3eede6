"""``tf.contrib.learn``: its databases; what else it had is `tf.keras` now."""

from agog.contrib.learn import datasets as datasets
from agog_compat.advice import face as _face

_face(globals(), "datasets")
