"""``tf.keras.datasets``: databases to learn from."""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_core.exports import later as _later

if TYPE_CHECKING:
    from agog.keras.datasets import boston_housing as boston_housing
    from agog.keras.datasets import california_housing as california_housing
    from agog.keras.datasets import cifar10 as cifar10
    from agog.keras.datasets import cifar100 as cifar100
    from agog.keras.datasets import fashion_mnist as fashion_mnist
    from agog.keras.datasets import imdb as imdb
    from agog.keras.datasets import mnist as mnist
    from agog.keras.datasets import reuters as reuters

# Most programs do not read these files, so the readers are imported when they are asked for.
_NAMES = ("boston_housing", "california_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist", "reuters")
__getattr__, __dir__ = _later(__name__, modules={name: f"agog.keras.datasets.{name}" for name in _NAMES})
__getattr__ = _taught(__name__, __getattr__)
