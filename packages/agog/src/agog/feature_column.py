"""``tf.feature_column``: what the features of tables become as inputs of models."""

from agog_compat.advice import face as _face
from agog_keras.feature_columns import input_layer as input_layer
from agog_keras.feature_columns import linear_model as linear_model
from agog_keras.feature_columns import make_parse_example_spec as make_parse_example_spec
from agog_keras.feature_columns import (
    sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket,
)
from agog_keras.feature_columns import (
    sequence_categorical_column_with_identity as sequence_categorical_column_with_identity,
)
from agog_keras.feature_columns import (
    sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file,
)
from agog_keras.feature_columns import (
    sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list,
)
from agog_keras.feature_columns import sequence_numeric_column as sequence_numeric_column
from agog_keras.feature_columns.categorical import *
from agog_keras.feature_columns.crossing import *
from agog_keras.feature_columns.embedding import *
from agog_keras.feature_columns.numeric import *
from agog_keras.feature_columns.vocabulary import *

_face(globals())
