"""``tf.contrib.feature_column``: sequences of features as inputs of recurrent models."""

from agog_core.exports import export as _export
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
from agog_keras.feature_columns import sequence_input_layer as sequence_input_layer
from agog_keras.feature_columns import sequence_numeric_column as sequence_numeric_column

_export(globals())
