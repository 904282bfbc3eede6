"""Data: an epoch of 60,000 examples of 784 bytes, shuffled, scaled, and put into batches of 128."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from benchmarks.frameworks import Framework
from benchmarks.kinds import SEED, Case

EXAMPLES, BATCH = 60_000, 128


def examples(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Bytes like those of MNIST, and labels."""
    rng = np.random.default_rng(SEED)
    return rng.integers(0, 256, (count, 784), np.uint8), rng.integers(0, 10, count)


class Epoch(Case):
    """An epoch; the result is the number of examples."""

    unit = "example"
    count: ClassVar[int] = EXAMPLES
    workers: ClassVar[int] = 0

    @property
    def per(self) -> int:  # type: ignore[override]
        """Examples of an epoch."""
        return self.count

    def program(self, framework: Framework) -> Callable[[], Any]:
        loader = self.formula(framework)()

        def run() -> Any:
            return framework.tensor(np.int64(sum(len(labels) for _, labels in loader)))

        return run


class DataBatch(Epoch):
    """The batch is taken first, and scaled as a whole."""

    def agog(self, tf: Any) -> Any:
        def scale(x: Any, y: Any) -> Any:
            return tf.cast(x, tf.float32) / 255, y

        dataset = tf.data.Dataset.from_tensor_slices(examples(self.count)).shuffle(10_000)
        return dataset.batch(BATCH).map(scale).prefetch(2)

    def torch(self, torch: Any) -> Any:
        dataset = _torch_dataset(torch, self.count)
        sampler = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(dataset), BATCH, False)
        return torch.utils.data.DataLoader(dataset, batch_size=None, sampler=sampler)


class DataExample(Epoch):
    """Each example is scaled for itself."""

    def agog(self, tf: Any) -> Any:
        def scale(x: Any, y: Any) -> Any:
            return tf.cast(x, tf.float32) / 255, y

        dataset = tf.data.Dataset.from_tensor_slices(examples(self.count)).shuffle(10_000)
        return dataset.map(scale).batch(BATCH).prefetch(2)

    def torch(self, torch: Any) -> Any:
        dataset = _torch_dataset(torch, self.count)
        return torch.utils.data.DataLoader(dataset, batch_size=BATCH, shuffle=True)


class DataPython(Epoch):
    """A Python function with NumPy scales each example, in two processes."""

    count = 12_000

    def agog(self, tf: Any) -> Any:
        dataset = tf.data.Dataset.from_tensor_slices(examples(self.count)).shuffle(10_000)
        return dataset.map(_agog_scale, num_parallel_calls=2, processes=True).batch(BATCH).prefetch(2)

    def torch(self, torch: Any) -> Any:
        dataset = list(zip(*examples(self.count), strict=True))
        collate = partial(_torch_scale, torch)
        return torch.utils.data.DataLoader(dataset, BATCH, shuffle=True, num_workers=2, collate_fn=collate)


def _agog_scale(x: Any, y: Any) -> Any:
    return x.numpy().astype(np.float32) / np.float32(255), y


def _torch_scale(torch: Any, pairs: Any) -> Any:
    scaled = [(x.astype(np.float32) / np.float32(255), y) for x, y in pairs]
    return torch.utils.data.default_collate(scaled)


def _torch_dataset(torch: Any, count: int) -> Any:
    pixels, labels = map(torch.from_numpy, examples(count))

    class Scaled(torch.utils.data.Dataset):  # type: ignore[misc, name-defined]
        def __len__(self) -> int:
            return count

        def __getitem__(self, index: Any) -> Any:
            return pixels[index].float() / 255, labels[index]

    return Scaled()


DATA = (DataBatch(), DataExample(), DataPython())
