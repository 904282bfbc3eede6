"""``tf.keras.wrappers.scikit_learn``: models with the methods that scikit-learn calls."""

from agog_compat.advice import taught as _taught
from agog_training.estimators import KerasClassifier, KerasRegressor

__all__ = ["KerasClassifier", "KerasRegressor"]

__getattr__ = _taught(__name__)
