"""A custom loop as TensorFlow 2's guide to distributed training has it: prints its losses, which are those of one."""

import os
import sys

import numpy as np

import agog as tf

tf.set_random_seed(3)
traced, ends = "traced" in sys.argv, "ends" in sys.argv
strategy = tf.distribute.MirroredStrategy()
GLOBAL_BATCH = 16
rng = np.random.default_rng(0)
COUNT = 81 if ends else 80  # so that the last batch is a single example
inputs = rng.normal(size=(COUNT, 10)).astype(np.float32)
labels = (inputs @ rng.normal(size=(10, 4)).astype(np.float32)).argmax(1)
dataset = tf.data.Dataset.from_tensor_slices((inputs, labels)).shuffle(100).batch(GLOBAL_BATCH)
dist_dataset = strategy.experimental_distribute_dataset(dataset)

with strategy.scope():
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(16, activation="relu", input_shape=(10,)), tf.keras.layers.Dense(4)]
    )
    optimizer = tf.keras.optimizers.Adam(0.01)
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction=tf.keras.losses.Reduction.NONE
    )
    train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")


def step_fn(inputs):
    x, y = inputs
    with tf.GradientTape() as tape:
        predictions = model(x, training=True)
        loss = tf.nn.compute_average_loss(loss_object(y, predictions), global_batch_size=GLOBAL_BATCH)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # noqa: B905  # as TensorFlow has it
    train_accuracy.update_state(y, predictions)
    return loss


def distributed_train_step(inputs):
    per_replica_losses = strategy.run(step_fn, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)


if traced:
    distributed_train_step = tf.function(distributed_train_step)
for epoch in range(3):
    total, batches = 0.0, 0
    for batch in dist_dataset:
        total += distributed_train_step(batch)
        batches += 1
    accuracy = float(train_accuracy.result())
    if os.environ.get("SHOWS") or tf.distribute.rank() == 0:
        print(f"epoch {epoch} loss {float(total) / batches:.6f} accuracy {accuracy:.6f}", flush=True)
    train_accuracy.reset_states()
