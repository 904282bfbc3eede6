"""A training of several ranks that goes on from its last checkpoint, and of which each attempt kills one of them.

Arguments: a folder, how many attempts are disturbed, a seed, the seconds within which the kill comes, and "shared"
where each rank keeps a share of the optimizer's slots, and saves behind.
"""

import hashlib
import os
import random
import signal
import sys
import threading
from pathlib import Path

folder, kills, seed, seconds = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
is_shared = sys.argv[5] == "shared"
# Before anything is connected, or even imported: the kill may come at any moment.
names = ("PMI_RANK", "PMI_SIZE") if "PMI_RANK" in os.environ else ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
rank, size = (int(os.environ[name]) for name in names)
attempt = len(list(folder.glob(f"attempt-*-{rank}")))
(folder / f"attempt-{attempt}-{rank}").touch()
chances = random.Random(f"{seed} {attempt}")
victim, delay = chances.randrange(size), chances.uniform(0.0, seconds)


def kill() -> None:
    (folder / f"kill-{attempt}").write_text(f"rank {rank} after {delay:.3f} s")
    os.kill(os.getpid(), signal.SIGKILL)


if rank == victim and attempt < kills:
    timer = threading.Timer(delay, kill)
    timer.daemon = True
    timer.start()

import numpy as np  # noqa: E402

import agog as tf  # noqa: E402
import agog_distribute as distribute  # noqa: E402

STEPS, SAVE = 24, 3
tf.set_random_seed(1)
rng = np.random.default_rng(0)
inputs, labels = rng.normal(size=(256, 16)).astype(np.float32), rng.integers(0, 4, 256)
batches = tf.data.Dataset.from_tensor_slices((inputs, labels)).shuffle(256, seed=5).repeat().batch(32)
iterator = iter(distribute.shard(batches))
model = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(4)])
model(tf.zeros([1, 16]))
optimizer = distribute.DistributedOptimizer(tf.train.AdamOptimizer(0.01), shard_state=is_shared)
step = tf.Variable(0, dtype=tf.int64, trainable=False)
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step, iterator=iterator)
manager = tf.train.CheckpointManager(checkpoint, folder / "checkpoints", max_to_keep=2, asynchronous=is_shared)
checkpoint.restore(manager.latest_checkpoint)
while int(step) < STEPS:
    x, y = next(iterator)
    with distribute.DistributedGradientTape() as tape:
        loss = tf.losses.sparse_softmax_cross_entropy(y, model(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables, strict=True), step)
    if int(step) % SAVE == 0:
        manager.save()
manager.wait()
weights = b"".join(variable.numpy().tobytes() for variable in model.variables)
print("weights", hashlib.sha256(weights).hexdigest())
