"""`compile` and `fit` in the scope of a strategy, as in TensorFlow 2: prints losses, metrics and predictions."""

import sys

import numpy as np

import agog as tf

tf.set_random_seed(3)
strategy = tf.distribute.MultiWorkerMirroredStrategy()
rng = np.random.default_rng(0)
inputs = rng.normal(size=(81, 10)).astype(np.float32)
labels = (inputs @ rng.normal(size=(10, 4)).astype(np.float32)).argmax(1)


class OwnStep(tf.keras.Sequential):
    """A step of the program's own, as TensorFlow 2's guide has it."""

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))  # noqa: B905  # as TensorFlow has it
        self.compiled_metrics.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


class Stop(tf.keras.callbacks.Callback):
    """Ends the training in one process, which ends it in all."""

    def on_train_batch_end(self, batch, logs=None):
        if batch == 3 and tf.distribute.rank() == tf.distribute.size() - 1:
            self.model.stop_training = True


with strategy.scope():
    model = (OwnStep if "step" in sys.argv else tf.keras.Sequential)(
        [
            tf.keras.layers.Dense(16, activation="relu", kernel_regularizer=tf.keras.regularizers.l2(0.01)),
            *([tf.keras.layers.BatchNormalization(synchronize=True)] if "norm" in sys.argv else []),
            tf.keras.layers.Dense(4),
        ]
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.01, clipnorm=0.5),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy", tf.keras.metrics.SparseTopKCategoricalAccuracy(k=2, name="top")],
        jit_compile="traced" in sys.argv,
    )

settings = {"epochs": 3, "verbose": 0}
if "weights" in sys.argv:
    settings["class_weight"] = {0: 1.0, 1: 2.0, 2: 0.5, 3: 3.0}
if "dataset" in sys.argv:
    dataset = tf.data.Dataset.from_tensor_slices((inputs, labels)).shuffle(81).batch(16)
    history = model.fit(dataset, validation_data=(inputs[:5], labels[:5]), **settings)
elif "own" in sys.argv:
    dataset = tf.data.Dataset.from_tensor_slices((inputs, labels)).shuffle(81).batch(16)
    history = model.fit(strategy.experimental_distribute_dataset(dataset), **settings)
elif "function" in sys.argv:
    # As many rows as one process has in each batch, and the same ones, but for the last: one process has it alone.
    def dataset_fn(context):
        count, rank = context.num_input_pipelines, context.input_pipeline_id
        dataset = tf.data.Dataset.from_tensor_slices((inputs, labels)).shard(count, rank)
        return dataset.batch(context.get_per_replica_batch_size(16))

    history = model.fit(strategy.distribute_datasets_from_function(dataset_fn), **settings)
else:
    history = model.fit(
        inputs,
        labels,
        batch_size=16,
        validation_split=0.1,
        callbacks=[
            tf.keras.callbacks.ReduceLROnPlateau("loss", patience=0, min_delta=0.3),
            *([Stop()] if "stop" in sys.argv else []),
        ],
        **settings,
    )
scores = model.evaluate(inputs, labels, verbose=0)
predictions = model.predict(inputs[:7], batch_size=3)
if tf.distribute.rank() == 0:
    for name, values in history.history.items():
        print(" ".join(f"{name} {value:.6f}" for value in values))
    print(" ".join(f"score {value:.6f}" for value in scores))
    print(" ".join(f"output {value:.5f}" for value in predictions.reshape(-1)), flush=True)
