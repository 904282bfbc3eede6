"""Feature columns: from features of tables to inputs of models, as in ``tf.feature_column``."""

from agog_core.exports import export as _export
from agog_keras.feature_columns.categorical import *
from agog_keras.feature_columns.column import *
from agog_keras.feature_columns.crossing import *
from agog_keras.feature_columns.dense_features import *
from agog_keras.feature_columns.embedding import *
from agog_keras.feature_columns.functions import *
from agog_keras.feature_columns.linear_model import *
from agog_keras.feature_columns.numeric import *
from agog_keras.feature_columns.sequence_features import *
from agog_keras.feature_columns.vocabulary import *

_export(globals())
