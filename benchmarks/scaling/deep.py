"""Deep: a network of as many weights as mlp_big in equal layers, whose gradients are there one after the other."""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks.cases.models import Mlp


class MlpDeep(Mlp):
    """Twelve layers of 1,448, batch 256."""

    sizes: ClassVar[tuple[int, ...]] = (1448,) * 13
    examples = 256

    def agog_logits(self, tf: Any, *arguments: Any) -> Any:
        *layers, h = arguments
        for n in range(0, len(layers) - 2, 2):
            h = tf.nn.relu(tf.nn.bias_add(h @ layers[n], layers[n + 1]))
        return tf.nn.bias_add(h @ layers[-2], layers[-1])
