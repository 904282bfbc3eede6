"""`compile` with a `DistributedOptimizer`, without a strategy: each process fits its own rows; and averages overlap."""

import sys

import numpy as np

import agog as tf
from agog_distribute.gradients import walks

traced = "traced" in sys.argv
rank, size = tf.distribute.rank(), tf.distribute.size()
rng = np.random.default_rng(0)
inputs, targets = rng.normal(size=(64, 10)).astype(np.float32), rng.normal(size=(64, 4)).astype(np.float32)
behind = []  # what is averaged when the walk back is done
averaged = walks.averaged
walks.averaged = lambda gradients, *args: (behind.append(len(gradients)), averaged(gradients, *args))[1]


def fitted(optimizer, x, y, batch_size):
    tf.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(4)])
    model.compile(optimizer, "mse", jit_compile=traced)
    model.fit(x, y, batch_size=batch_size, epochs=2, shuffle=False, verbose=0)
    return model


def own(array):
    """This process's part of each batch of 16."""
    return array.reshape(4, size, 16 // size, -1)[:, rank].reshape(64 // size, -1)


alone = fitted(tf.keras.optimizers.SGD(0.1), inputs, targets, 16)
optimizer = tf.distribute.DistributedOptimizer(tf.keras.optimizers.SGD(0.1))
together = fitted(optimizer, own(inputs), own(targets), 16 // size)
with tf.distribute.MirroredStrategy().scope():
    in_strategy = fitted(tf.keras.optimizers.SGD(0.1), inputs, targets, 16)
for model in (together, in_strategy):
    for found, wanted in zip(model.variables, alone.variables, strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)
# The first eager step of each finds that its gradients are dense; all others send them while the tape walks back.
assert behind == ([] if traced or size == 1 else [4, 4]), behind
if rank == 0:
    print("all as in one process")
